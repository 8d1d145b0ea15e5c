package zeromq

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokerless"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// TestMain is also the forwarder's program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "forwarder" {
		if err := brokerless.Main(map[string]brokerless.Library{"zeromq": Library{}}, os.Args[2:], os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) { brokertest.Brokerless(t, New, "zeromq") }

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "ZeroMQ", New, "", "")
}

func TestOptionsAreChecked(t *testing.T) {
	for options, want := range map[string]string{
		`{"mode":"pair"}`:        `mode must be one of push-pull, pub-sub, req-rep, got "pair"`,
		`{"transport":"udp"}`:    `transport must be one of tcp, ipc, got "udp"`,
		`{"highWaterMark":-1}`:   "highWaterMark cannot be negative",
		`{"highWaterMarks":100}`: "highWaterMarks",
	} {
		if _, err := New(broker.Options{Driver: json.RawMessage(options)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", options, err, want)
		}
	}
}
