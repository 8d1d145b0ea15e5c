package brokertest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// RefusesAbove sends messages of what a server takes at most and of one byte more, in turn: those are taken, these are refused in the
// given words, although the run is of them, and nobody is left in doubt about any.
func RefusesAbove(t *testing.T, driver broker.Driver, url, options, topic string, limitBytes int, words string) {
	t.Helper()
	s, err := driver(broker.Options{
		URL: url, Driver: json.RawMessage(options), Connections: 1, MessageBytes: limitBytes + 1, LimitBytes: limitBytes,
		Now: clock.New().Now, OnError: func(error) {}, TimeoutNs: int64(30 * time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	err = s.Open(t.Context())
	if err == nil {
		err = s.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: topic, Partitions: 1}}})
	}
	if err != nil {
		t.Fatalf("the driver refuses a run above the limit: %v", err)
	}
	producer, err := s.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	send := func(bytes int) error {
		fate := make(chan error, 1)
		producer.Send(&broker.Message{Name: topic, Payload: make([]byte, bytes)}, func(_ *broker.Message, _ int64, err error) { fate <- err })
		return <-fate
	}
	for range 3 {
		// A server may end the connection with its refusal, and then it takes a moment until there is another one.
		Eventually(t, "a message of the limit is taken", func() bool { return send(limitBytes) == nil })
		if err := send(limitBytes + 1); err == nil || errors.Is(err, broker.ErrUnknown) || !strings.Contains(err.Error(), words) {
			t.Fatalf("a message above the limit: %v; want it to be refused: %s", err, words)
		}
	}
}
