package amqp

import (
	"testing"

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
