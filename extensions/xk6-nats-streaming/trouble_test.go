package streaming

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// A server that keeps channels in memory comes back without them, and without its clients: it is silent to those until they ask.
func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for _, store := range []string{"memory", "file"} {
		for _, group := range []string{"", "workers"} {
			t.Run(store+" "+group, func(t *testing.T) {
				server := startServer(t, "-store", store, "-dir", t.TempDir())
				traffic := brokertest.System{Driver: New, URL: server.URL}.Traffic(t, group)
				traffic.Survives(server.Server)
				if n := traffic.Arrived(0); n > 1 && group == "" {
					t.Errorf("the first message arrives %d times at a subscription that had acknowledged it", n)
				}
			})
		}
	}
}

func TestWhatCannotBeIsRefusedBeforeTheRun(t *testing.T) {
	server := startServer(t, "-store", "memory", "-cid", "one")
	for _, c := range []struct {
		options   string
		bytes     int
		complaint string
	}{
		{`{"cluster": "another"}`, 64, `cluster "another"`},
		{`{"cluster": "one"}`, 2 << 20, "max_payload of 2097152"},
	} {
		brokertest.System{Driver: New, URL: server.URL, DriverOptions: []byte(c.options)}.RefusedWith(t, c.bytes, c.complaint)
	}
}

// The envelope counts: runner/brokers/nats-streaming/index.ts reckons with the same bytes.
func TestAMessageThatDoesNotFitWithItsEnvelopeIsRefused(t *testing.T) {
	server := startServer(t, "-store", "memory")
	const connection, ids, topic, payload = 2 + 37, 2 * (2 + 22), 2 + len("large"), 1 + 3
	brokertest.System{Driver: New, URL: server.URL}.RefusesAbove(t, "large", 2097152-connection-ids-topic-payload, "the client library (nats.go) refuses it")
}
