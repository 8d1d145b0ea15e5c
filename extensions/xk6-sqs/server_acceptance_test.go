//go:build acceptance

package sqs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// server is an ElasticMQ of a test's own.
type server struct {
	*brokertest.Server
	url string
}

func startServer(t testing.TB) server {
	t.Helper()
	port, file := brokertest.FreePort(t), filepath.Join(t.TempDir(), "elasticmq.conf")
	text := fmt.Sprintf(`include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = %d, context-path = "" }
rest-sqs { bind-hostname = "127.0.0.1", bind-port = %[1]d, sqs-limits = strict }
rest-stats { enabled = false }
`, port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return server{
		brokertest.StartServer(t, "started in", "java", "-Xmx512m", "-Dconfig.file="+file, "-cp",
			brokertest.Classpath(t, "runner/brokers/sqs/pom.xml"), "org.elasticmq.server.Main"),
		fmt.Sprintf("http://127.0.0.1:%d", port),
	}
}
