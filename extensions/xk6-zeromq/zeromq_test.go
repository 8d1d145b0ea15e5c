package zeromq

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokerless"
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

func TestNobodyReadsASocketThatWasDisconnected(t *testing.T) {
	nothing := func(brokerless.Message) {}
	for _, mode := range []brokerless.Mode{brokerless.PushPull, brokerless.PubSub, brokerless.ReqRep} {
		receiver, err := Library{}.Listen(mode, "", "tcp://127.0.0.1:0", nothing)
		if err != nil {
			t.Fatal(err)
		}
		sender, err := Library{}.Sender(mode, nothing, func(error) {}, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if err := sender.Connect(t.Context(), receiver.Address(), ""); err != nil {
			t.Fatal(err)
		}
		sender.Disconnect(receiver.Address())
		brokertest.Eventually(t, string(mode)+": its reader ends", func() bool {
			stacks := make([]byte, 1<<20)
			return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*out).watch")
		})
		if err := sender.Close(); err != nil {
			t.Error(err)
		}
		if err := receiver.Close(); err != nil {
			t.Error(err)
		}
	}
}
