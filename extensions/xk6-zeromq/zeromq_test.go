package zeromq

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestMain(m *testing.M) { brokertest.ForwarderOr(m, "zeromq", Library{}) }

func TestConformance(t *testing.T) { brokertest.Brokerless(t, New, "zeromq", `{}`) }

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "ZeroMQ", New, "", "")
}

func TestOptionsAreChecked(t *testing.T) {
	for options, want := range map[string]string{
		`{"mode":"pair"}`:        `mode must be one of push-pull, pub-sub, req-rep, got "pair"`,
		`{"transport":"udp"}`:    `transport must be one of tcp, ipc, got "udp"`,
		`{"highWaterMarks":100}`: "highWaterMarks",
	} {
		if _, err := New(broker.Options{Driver: json.RawMessage(options)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", options, err, want)
		}
	}
}
