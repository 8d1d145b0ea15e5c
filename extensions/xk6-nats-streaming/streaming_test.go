package streaming

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

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
