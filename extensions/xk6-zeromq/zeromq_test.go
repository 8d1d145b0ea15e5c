package zeromq

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestMain(m *testing.M) { brokertest.ForwarderOr(m, "zeromq", Library{}) }

func TestConformance(t *testing.T) { brokertest.Brokerless(t, New, "zeromq", `{}`) }

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "ZeroMQ", New, "", "")
}
