package streaming

import (
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// A server that keeps channels in memory comes back without them, and without its clients: it is silent to those until they ask.
func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for _, store := range []string{"memory", "file"} {
		for _, group := range []string{"", "workers"} {
			t.Run(store+" "+group, func(t *testing.T) {
				server := startServer(t, "-store", store, "-dir", t.TempDir())
				traffic := brokertest.System{Driver: New, URL: server.url}.Traffic(t, group)
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
		s, err := New(broker.Options{URL: server.url, Driver: []byte(c.options), Connections: 1, MessageBytes: c.bytes, Now: clock.New().Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%v; want an error with %q", err, c.complaint)
		}
	}
}

// The envelope counts: runner/brokers/nats-streaming/index.ts reckons with the same bytes.
func TestAMessageThatDoesNotFitWithItsEnvelopeIsRefused(t *testing.T) {
	server := startServer(t, "-store", "memory")
	const connection, ids, topic, payload = 2 + 37, 2 * (2 + 22), 2 + len("large"), 1 + 3
	brokertest.System{Driver: New, URL: server.url}.RefusesAbove(t, "large", 2097152-connection-ids-topic-payload, "the client library (nats.go) refuses it")
}
