// Package brokertest is what every driver has to pass: the contract of package broker, as tests against a real system.
package brokertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// System is the driver under test and how to reach its broker.
type System struct {
	Driver broker.Driver
	// URL of a broker that runs.
	URL string
	// Broken, if not nil, takes the broker away; sends must then fail or be lost, and nothing may hang.
	Broken func(t *testing.T)
}

// patience is how long a message may take before it counts as lost: long, for a loaded machine.
const patience = 20 * time.Second

const messageBytes = 256

// Run puts the driver through the contract. start gives a system for each test.
func Run(t *testing.T, start func(t *testing.T) System) {
	tests := map[string]func(*testing.T, System){
		"delivers every message once, whole and in order":              deliversAll,
		"calls done exactly once for each send":                        callsDoneOnce,
		"keeps topics apart":                                           keepsTopicsApart,
		"delivers the first message sent after Consume":                consumesAtOnce,
		"does not hold an idle system's message back to batch it":      doesNotBatch,
		"stamps receipts with the run's clock, after the send":         stampsReceipts,
		"sends on every connection":                                    sendsOnAll,
		"says what it is and what it set":                              describes,
		"refuses options that it does not know":                        refusesOptions,
		"fails a send after Close instead of hanging":                  failsAfterClose,
		"fails or loses messages when the broker is gone, and returns": survivesLoss,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

func deliversAll(t *testing.T, s System) {
	r := open(t, s, 1, "order")
	const n = 5000
	for i := range int64(n) {
		r.send(0, 0, i)
	}
	got := r.wait(0, n)
	for i, e := range got {
		if e.Sequence != uint64(i) {
			t.Fatalf("message %d arrives as number %d", e.Sequence, i)
		}
	}
	time.Sleep(100 * time.Millisecond)
	if extra := r.count(0) - n; extra != 0 {
		t.Errorf("%d messages arrive twice", extra)
	}
	if dropped := r.session.Dropped(); dropped != 0 {
		t.Errorf("the library dropped %d messages", dropped)
	}
}

func callsDoneOnce(t *testing.T, s System) {
	r := open(t, s, 1, "done")
	const n = 1000
	for i := range int64(n) {
		r.send(0, 0, i)
	}
	r.wait(0, n)
	acks := r.session.Describe().Acks
	r.eventually(func() bool { return len(r.doneSoFar()) == n }, "done is called for each send")
	for i, d := range r.doneSoFar() {
		if d.times != 1 || d.err != nil {
			t.Fatalf("done of message %d is called %d times, with error %v", i, d.times, d.err)
		}
		if acks && (d.ackNs < d.sentNs || d.ackNs > r.clock.Now()) {
			t.Fatalf("message %d is acknowledged at %d, sent at %d", i, d.ackNs, d.sentNs)
		}
		if !acks && d.ackNs != 0 {
			t.Fatalf("a system without acknowledgements gives the time %d", d.ackNs)
		}
	}
}

func keepsTopicsApart(t *testing.T, s System) {
	r := open(t, s, 1, "a", "b")
	for i := range int64(100) {
		r.send(0, int(i%2), i)
	}
	for topic := range 2 {
		for _, e := range r.wait(topic, 50) {
			if int(e.Sequence%2) != topic {
				t.Fatalf("message %d arrives on topic %d", e.Sequence, topic)
			}
		}
	}
}

func consumesAtOnce(t *testing.T, s System) {
	for n := range 10 {
		r := open(t, s, 1, fmt.Sprintf("first-%d", n))
		r.send(0, 0, 0)
		r.wait(0, 1)
		r.close()
	}
}

func doesNotBatch(t *testing.T, s System) {
	r := open(t, s, 1, "idle")
	var took []time.Duration
	for i := range int64(11) {
		time.Sleep(100 * time.Millisecond)
		began := time.Now()
		r.send(0, 0, i)
		r.wait(0, int(i)+1)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	// Linger times that clients have by default are 5 to 10 ms and more; the median forgives a busy machine.
	if median := took[len(took)/2]; median > 5*time.Millisecond {
		t.Errorf("an idle system takes %s for a message: something waits for more of them", median)
	}
}

func stampsReceipts(t *testing.T, s System) {
	r := open(t, s, 1, "stamps")
	for i := range int64(50) {
		r.send(0, 0, i)
		r.wait(0, int(i)+1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	for i, at := range r.receivedNs[0] {
		if at < r.received[0][i].Sent || at > now {
			t.Fatalf("message %d is received at %d, sent at %d, now is %d", i, at, r.received[0][i].Sent, now)
		}
	}
}

func sendsOnAll(t *testing.T, s System) {
	r := open(t, s, 3, "x", "y", "z")
	for i := range int64(300) {
		r.send(int(i%3), int(i%3), i)
	}
	for topic := range 3 {
		r.wait(topic, 100)
	}
}

func describes(t *testing.T, s System) {
	d := open(t, s, 1, "describe").session.Describe()
	if d.Library == "" || d.Server == "" || d.Settings == nil {
		t.Errorf("Describe = %+v: library, server and settings must be known after Open", d)
	}
	if d.Order != "none" && d.Order != "per-producer" {
		t.Errorf("order %q is neither none nor per-producer", d.Order)
	}
}

func refusesOptions(t *testing.T, s System) {
	_, err := s.Driver(broker.Options{
		URL: s.URL, Driver: json.RawMessage(`{"noSuchOption": 1}`), Connections: 1, MessageBytes: messageBytes,
		Now: clock.New().Now,
	})
	if err == nil {
		t.Error("an unknown option is accepted")
	}
}

func failsAfterClose(t *testing.T, s System) {
	r := open(t, s, 1, "closed")
	r.close()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		r.send(0, 0, 0)
	}()
	select {
	case <-returned:
	case <-time.After(patience):
		t.Fatal("a send after Close hangs")
	}
	r.eventually(func() bool { d := r.doneSoFar(); return len(d) == 1 && d[0].err != nil }, "the send fails")
}

func survivesLoss(t *testing.T, s System) {
	if s.Broken == nil {
		return // a system without a broker cannot lose it
	}
	r := open(t, s, 1, "loss")
	r.send(0, 0, 0)
	r.wait(0, 1)
	s.Broken(t)
	r.eventually(func() bool {
		r.send(0, 0, int64(len(r.doneSoFar())))
		done := r.doneSoFar()
		return done[len(done)-1].err != nil
	}, "a send without a broker fails")
	closed := make(chan struct{})
	go func() { r.close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("Close hangs without a broker")
	}
}

// --- internal ---

type rig struct {
	t         *testing.T
	clock     *clock.Clock
	session   broker.Session
	producers []broker.Producer
	topics    []string
	closeOnce sync.Once

	mu         sync.Mutex
	received   [][]envelope.Envelope
	receivedNs [][]int64
	done       []outcome
}

type outcome struct {
	times  int
	sentNs int64
	ackNs  int64
	err    error
}

var runs uint32

func open(t *testing.T, s System, connections int, topics ...string) *rig {
	t.Helper()
	runs++
	r := &rig{t: t, clock: clock.New(), received: make([][]envelope.Envelope, len(topics)), receivedNs: make([][]int64, len(topics))}
	for _, topic := range topics {
		r.topics = append(r.topics, fmt.Sprintf("brokertest.%d.%s", runs, topic))
	}
	session, err := s.Driver(broker.Options{
		URL: s.URL, Connections: connections, MessageBytes: messageBytes, Now: r.clock.Now, OnError: func(error) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.session = session
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := session.Open(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	if err := session.Prepare(ctx, r.topics); err != nil {
		t.Fatal(err)
	}
	for i, topic := range r.topics {
		if err := session.Consume(ctx, i%connections, topic, r.handler(i)); err != nil {
			t.Fatal(err)
		}
	}
	for c := range connections {
		p, err := session.Producer(c)
		if err != nil {
			t.Fatal(err)
		}
		r.producers = append(r.producers, p)
	}
	return r
}

func (r *rig) handler(topic int) broker.Handler {
	return func(d broker.Delivery) {
		e, ok := envelope.Get(d.Payload)
		if !ok || len(d.Payload) != messageBytes || d.Payload[messageBytes-1] != byte(e.Sequence) {
			r.t.Errorf("a payload of %d bytes arrives changed", len(d.Payload))
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.received[topic] = append(r.received[topic], e)
		r.receivedNs[topic] = append(r.receivedNs[topic], d.ReceivedNs)
	}
}

func (r *rig) send(connection, topic int, i int64) {
	payload := make([]byte, messageBytes)
	payload[messageBytes-1] = byte(i)
	now := r.clock.Now()
	envelope.Put(payload, envelope.Envelope{Run: runs, Sequence: uint64(i), Sent: now})
	r.mu.Lock()
	slot := len(r.done)
	r.done = append(r.done, outcome{sentNs: now})
	r.mu.Unlock()
	m := &broker.Message{Topic: topic, Name: r.topics[topic], Payload: payload, Index: i}
	r.producers[connection].Send(m, func(_ *broker.Message, ackNs int64, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done[slot].times++
		r.done[slot].ackNs, r.done[slot].err = ackNs, err
	})
}

// wait returns the first n messages of a topic.
func (r *rig) wait(topic, n int) []envelope.Envelope {
	r.t.Helper()
	r.eventually(func() bool { return r.count(topic) >= n }, fmt.Sprintf("%d messages arrive", n))
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.received[topic][:n])
}

func (r *rig) count(topic int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.received[topic])
}

func (r *rig) doneSoFar() []outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.done)
}

func (r *rig) eventually(holds func() bool, what string) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func (r *rig) close() {
	r.closeOnce.Do(func() {
		if err := r.session.Close(); err != nil {
			r.t.Errorf("close: %v", err)
		}
	})
}
