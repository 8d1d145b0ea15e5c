package amqp

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "AMQP 1.0", New, "amqp://here", "")
	brokertest.Tabled(t, "AMQP 1.0, settled", New, "amqp://here", `{"settled": true}`)
}

func TestWhatCannotBeDoneIsRefusedBeforeAConnection(t *testing.T) {
	for _, c := range []struct{ options, url, says string }{
		{`{"destination": "stream"}`, "amqp://here", "destination"},
		{`{}`, "redis://here", "amqp:// or amqps://"},
		{`{}`, "amqp://me:s3cr3t@", "empty host"},
	} {
		brokertest.System{Driver: New, URL: c.url, DriverOptions: []byte(c.options)}.RefusedWith(t, 64, c.says)
	}
}

func TestAnEncryptedConnectionHasAPortOfItsOwn(t *testing.T) {
	for url, want := range map[string]string{"amqp://here": "here:5672", "amqps://here": "here:5671", "amqps://here:1": "here:1"} {
		s, err := New(broker.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.(*session).at.Hosts[0]; got != want {
			t.Errorf("%s goes to %s, want %s", url, got, want)
		}
	}
}
