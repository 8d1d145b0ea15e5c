package redis

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "Redis pub/sub", New, "redis://here", "")
	brokertest.Tabled(t, "Redis streams", New, "redis://here", `{"mode": "streams"}`)
	brokertest.Tabled(t, "Redis lists", New, "redis://here", `{"mode": "lists"}`)
}
