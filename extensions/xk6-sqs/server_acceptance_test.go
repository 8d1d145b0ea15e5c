//go:build acceptance

package sqs

import (
	"fmt"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// startServer starts an ElasticMQ.
func startServer(t testing.TB) brokertest.Located {
	t.Helper()
	port := brokertest.FreePort(t)
	text := fmt.Sprintf(`include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = %d, context-path = "" }
rest-sqs { bind-hostname = "127.0.0.1", bind-port = %[1]d, sqs-limits = strict }
rest-stats { enabled = false }
`, port)
	config := brokertest.File(t, text, t.TempDir(), "elasticmq.conf")
	java := brokertest.Java("-Dconfig.file="+config, "-cp", brokertest.Classpath(t, "runner/brokers/sqs/pom.xml"), "org.elasticmq.server.Main")
	server := brokertest.StartServer(t, "started in", java...)
	return brokertest.Located{Server: server, URL: fmt.Sprintf("http://127.0.0.1:%d", port)}
}
