package streaming

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// server is one of a test's own.
type server struct {
	*brokertest.Server
	url string
}

// startServer starts one with arguments as it takes them: "-store", "file".
func startServer(t testing.TB, args ...string) server {
	t.Helper()
	port := brokertest.FreePort(t)
	config := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(config, []byte("max_payload: 2097152\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	argv := append([]string{brokertest.Built(t, "nats-streaming-server"), "-c", config, "-a", "127.0.0.1", "-p", strconv.Itoa(port)}, args...)
	return server{brokertest.StartServer(t, "Streaming Server is ready", argv...), fmt.Sprintf("nats://127.0.0.1:%d", port)}
}

func TestNATSStreamingKeepsTheContract(t *testing.T) {
	for _, store := range []string{"memory", "file"} {
		t.Run(store, func(t *testing.T) {
			s := startServer(t, "-store", store, "-dir", t.TempDir())
			brokertest.Run(t, func(*testing.T) brokertest.System {
				return brokertest.System{
					Driver: New, URL: s.url, FlagsRedelivery: true, Holds: 99, Broken: func(*testing.T) { s.Kill() },
				}
			})
		})
	}
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "NATS Streaming", New, "nats://here", "")
}
