package nats

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "NATS core", New, "nats://here", "")
	brokertest.Tabled(t, "JetStream", New, "nats://here", `{"mode": "jetstream"}`)
}
