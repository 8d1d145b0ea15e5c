package streaming

import (
	"strconv"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// startServer starts one with arguments as it takes them: "-store", "file".
func startServer(t testing.TB, args ...string) brokertest.Located {
	t.Helper()
	port, config := strconv.Itoa(brokertest.FreePort(t)), brokertest.File(t, "max_payload: 2097152\n", t.TempDir(), "nats.conf")
	argv := append([]string{brokertest.Built(t, "nats-streaming-server"), "-c", config, "-a", "127.0.0.1", "-p", port}, args...)
	return brokertest.Located{Server: brokertest.StartServer(t, "Streaming Server is ready", argv...), URL: "nats://127.0.0.1:" + port}
}

func TestNATSStreamingKeepsTheContract(t *testing.T) {
	for _, store := range []string{"memory", "file"} {
		t.Run(store, func(t *testing.T) {
			s := startServer(t, "-store", store, "-dir", t.TempDir())
			brokertest.Run(t, func(*testing.T) brokertest.System {
				return brokertest.System{Driver: New, URL: s.URL, FlagsRedelivery: true, Holds: 99, Broken: func(*testing.T) { s.Kill() }}
			})
		})
	}
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "NATS Streaming", New, "nats://here", "")
}
