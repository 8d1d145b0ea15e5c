package nanomsg

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestMain(m *testing.M) { brokertest.ForwarderOr(m, "nanomsg", Library{}) }

func TestConformance(t *testing.T) { brokertest.Brokerless(t, New, "nanomsg", `{"queue":4}`) }

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "nanomsg", New, "", "")
}
