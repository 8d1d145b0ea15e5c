package streaming

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

const patience = 30 * time.Second

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func opened(t *testing.T, url, options string) broker.Session {
	t.Helper()
	s, err := New(broker.Options{
		URL: url, Driver: json.RawMessage(options), Connections: 1, MessageBytes: 64, Now: clock.New().Now, OnError: func(error) {},
		TimeoutNs: int64(time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: "a.channel", Partitions: 1}}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// A server that keeps channels in memory comes back without them, and without its clients: it is silent to those until they ask.
func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for _, store := range []string{"memory", "file"} {
		for _, group := range []string{"", "workers"} {
			t.Run(store+" "+group, func(t *testing.T) {
				server := startServer(t, "-store", store, "-dir", t.TempDir())
				session := opened(t, server.url, "")
				var mu sync.Mutex
				received, unknown := map[byte]int{}, 0
				err := session.Consume(t.Context(), broker.Subscription{Topic: "a.channel", Group: group}, func(d broker.Delivery) {
					mu.Lock()
					defer mu.Unlock()
					received[d.Payload[0]]++
				})
				if err != nil {
					t.Fatal(err)
				}
				producer, err := session.Producer(0)
				if err != nil {
					t.Fatal(err)
				}
				send := func(number byte) {
					producer.Send(&broker.Message{Name: "a.channel", Payload: append([]byte{number}, make([]byte, 63)...)}, func(_ *broker.Message, _ int64, err error) {
						mu.Lock()
						defer mu.Unlock()
						if errors.Is(err, broker.ErrUnknown) {
							unknown++
						}
					})
				}
				got := func(number byte) func() bool {
					return func() bool { mu.Lock(); defer mu.Unlock(); return received[number] > 0 }
				}
				send(1)
				eventually(t, "the first message arrives", got(1))
				server.Kill()
				server.Start()
				// What is sent before the server knows us again is refused, or nobody answers.
				eventually(t, "a message sent afterwards arrives", func() bool { send(2); return got(2)() })
				if n := broker.Reconnects(session); n == nil || *n == 0 {
					t.Error("the lost connection is not counted")
				}
				mu.Lock()
				defer mu.Unlock()
				if received[1] > 1 && group == "" {
					t.Errorf("the first message arrives %d times at a subscription that had acknowledged it", received[1])
				}
			})
		}
	}
}

func TestAServerOfAnotherClusterIsNamed(t *testing.T) {
	server := startServer(t, "-store", "memory", "-cid", "one")
	s, err := New(broker.Options{URL: server.url, Driver: json.RawMessage(`{"cluster": "another"}`), Connections: 1, MessageBytes: 64, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), `cluster "another"`) {
		t.Errorf("the error %v does not name the cluster", err)
	}
}

func TestAMessageThatTheServerDoesNotTakeIsRefusedBeforeTheRun(t *testing.T) {
	server := startServer(t, "-store", "memory")
	s, err := New(broker.Options{URL: server.url, Connections: 1, MessageBytes: 2 << 20, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "max_payload of 2097152") {
		t.Errorf("the error %v does not say which limit it is", err)
	}
}

// The envelope counts: runner/brokers/nats-streaming/index.ts reckons with the same bytes.
func TestAMessageThatDoesNotFitWithItsEnvelopeIsRefused(t *testing.T) {
	server := startServer(t, "-store", "memory")
	const connection, ids, topic, payload = 2 + 37, 2 * (2 + 22), 2 + len("large"), 1 + 3
	brokertest.RefusesAbove(t, New, server.url, "", "large", 2097152-connection-ids-topic-payload, "the client library (nats.go) refuses it")
}
