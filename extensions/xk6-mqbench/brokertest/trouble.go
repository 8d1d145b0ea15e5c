package brokertest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// For tests of a driver's own: what happens when its server dies, stands still or flushes.

// Eventually waits until something holds; patience is longer than a server that stands still is waited for.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	const patience = 2 * time.Minute
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// Opened is a session with one connection and one topic, until the test is over. The topic has a member of each group, or else a subscription
// without one. Sends time out after half a minute.
func Opened(t testing.TB, driver broker.Driver, url, options, durability, topic string, groups ...string) broker.Session {
	t.Helper()
	layout := broker.Layout{Topics: []broker.Topic{{Name: topic, Partitions: 1}}}
	if len(groups) == 0 {
		groups = []string{""}
	}
	for _, group := range groups {
		layout.Subscriptions = append(layout.Subscriptions, members(topic, group, 0)...)
	}
	s, err := driver(broker.Options{
		URL: url, Driver: json.RawMessage(options), Durability: durability, Connections: 1, MessageBytes: trafficBytes, Now: clock.New().Now,
		OnError: func(error) {}, TimeoutNs: int64(30 * time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context(), layout); err != nil {
		t.Fatal(err)
	}
	return s
}

// Traffic is what was sent to a topic over one connection, by a number of ours: how often it arrived at one subscription, and what became of
// the sends.
type Traffic struct {
	topic    string
	producer broker.Producer

	mu                                     sync.Mutex
	received, answered, failed, unanswered map[byte]int
}

// TrafficOf subscribes, as a member of the group if there is one, and sends nothing yet.
func TrafficOf(t testing.TB, s broker.Session, topic, group string) *Traffic {
	t.Helper()
	a := &Traffic{topic: topic, received: map[byte]int{}, answered: map[byte]int{}, failed: map[byte]int{}, unanswered: map[byte]int{}}
	err := s.Consume(t.Context(), broker.Subscription{Topic: topic, Group: group}, func(d broker.Delivery) { a.count(a.received, d.Payload[0]) })
	if err == nil {
		a.producer, err = s.Producer(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Send sends a message of that number.
func (a *Traffic) Send(number byte) {
	payload := make([]byte, trafficBytes)
	payload[0] = number
	a.producer.Send(&broker.Message{Name: a.topic, Payload: payload}, func(_ *broker.Message, _ int64, err error) {
		switch {
		case err == nil:
			a.count(a.answered, number)
		case errors.Is(err, broker.ErrUnknown):
			a.count(a.unanswered, number)
		default:
			a.count(a.failed, number)
		}
	})
}

// Received is how often messages of that number have arrived; Answered, Failed and Unknown are sends with those ends.
func (a *Traffic) Received(number byte) int { return a.of(a.received, number) }
func (a *Traffic) Answered(number byte) int { return a.of(a.answered, number) }
func (a *Traffic) Failed(number byte) int   { return a.of(a.failed, number) }
func (a *Traffic) Unknown(number byte) int  { return a.of(a.unanswered, number) }

// Survives lets a server die and come back, and sees that the session sends and receives again, and has counted that.
func (a *Traffic) Survives(t testing.TB, s broker.Session, server *Server) {
	t.Helper()
	a.Send(1)
	Eventually(t, "the first message arrives", func() bool { return a.Received(1) > 0 })
	server.Kill()
	Eventually(t, "a message is refused, or nobody knows of it, while the server is down", func() bool {
		a.Send(2)
		return a.Failed(2)+a.Unknown(2) > 0
	})
	server.Start()
	a.arrives(t)
	if n := broker.Reconnects(s); n == nil || *n == 0 {
		t.Error("the lost connection is not counted")
	}
}

// NoticesSilence lets a server stand still with its connections open: nobody knows of what it had got.
func (a *Traffic) NoticesSilence(t testing.TB, server *Server) {
	t.Helper()
	a.Send(1)
	Eventually(t, "the first message arrives", func() bool { return a.Received(1) > 0 })
	server.Freeze()
	for range 100 { // one may be answered before the server stands
		a.Send(2)
	}
	Eventually(t, "a message that it does not answer is unknown", func() bool { return a.Unknown(2) > 0 })
	server.Kill()
	server.Start()
	a.arrives(t)
}

// Shared lets four members of a group work 3 ms for each of 400 messages: all do, and each message is handled once.
func Shared(t testing.TB, driver broker.Driver, url, options, topic string) {
	t.Helper()
	const members, n, group = 4, 400, "workers"
	s := Opened(t, driver, url, options, "", topic, group, group, group, group)
	var mu sync.Mutex
	worked := make([]int, members)
	for i := range members {
		err := s.Consume(t.Context(), broker.Subscription{Topic: topic, Group: group}, func(broker.Delivery) {
			time.Sleep(3 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			worked[i]++
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	producer, err := s.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		producer.Send(&broker.Message{Name: topic, Payload: make([]byte, trafficBytes)}, func(_ *broker.Message, _ int64, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	total := func() (sum int) {
		mu.Lock()
		defer mu.Unlock()
		for _, one := range worked {
			sum += one
		}
		return sum
	}
	Eventually(t, "each message is handled", func() bool { return total() >= n })
	// Members leave while the last message may be handled and not acknowledged: the others must not get it.
	if err := broker.Remove(t.Context(), s); err != nil {
		t.Error(err)
	}
	settled()
	if got := total(); got != n {
		t.Errorf("%d messages are handled, and %d were sent", got, n)
	}
	mu.Lock()
	defer mu.Unlock()
	for i, one := range worked {
		if one == 0 { // how evenly is a matter of who gets a core
			t.Errorf("member %d of %v did nothing", i, worked)
		}
	}
}

// Flushes are the calls of fsync, fdatasync and msync in a server, which it starts anew for that, as strace counts them. It skips the test where
// strace is missing, except in CI.
func Flushes(t testing.TB, server *Server) (flushes func() int) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("strace is not on PATH")
		}
		t.Skip("strace is not on PATH: install it to run this test")
	}
	server.Kill()
	trace := filepath.Join(t.TempDir(), "trace")
	server.Start(strace, "-f", "-e", "trace=fsync,fdatasync,msync", "-o", trace)
	return func() int {
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "sync(")
	}
}

// FlushesFor sends n messages one after another, each when the one before is acknowledged, and wants so many flushes for them.
func FlushesFor(t testing.TB, flushes func() int, s broker.Session, topic string, n, least, most int) {
	t.Helper()
	producer, err := s.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	before := flushes()
	for range n {
		done := make(chan error, 1)
		producer.Send(&broker.Message{Name: topic, Payload: make([]byte, trafficBytes)}, func(_ *broker.Message, _ int64, err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if got := flushes() - before; got < least || got > most {
		t.Errorf("%d flushes for %d acknowledged messages, want %d to %d", got, n, least, most)
	}
}

// --- internal ---

const trafficBytes = 64

func (a *Traffic) count(in map[byte]int, number byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	in[number]++
}

func (a *Traffic) of(in map[byte]int, number byte) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return in[number]
}

func (a *Traffic) arrives(t testing.TB) {
	t.Helper()
	Eventually(t, "a message sent afterwards arrives", func() bool { a.Send(3); return a.Received(3) > 0 })
}
