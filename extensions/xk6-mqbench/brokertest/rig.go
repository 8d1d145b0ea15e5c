package brokertest

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// shape is the session that a test needs.
type shape struct {
	// connections; 0 means one.
	connections int
	// partitions of every topic; 0 means one.
	partitions int
	// bytes of a message; 0 means the usual size.
	bytes int
	// limitBytes of the system, of which the messages are one more; 0 if they have the usual size.
	limitBytes int
	// replicas of every topic; 0 means the broker's default.
	replicas int
	// timeout of a message; 0 means the usual one.
	timeout time.Duration
	// part of the session in the run: the user's topics, one of several clients.
	part broker.Part
	// consumers on all clients; nil means one of each topic, on the last connection, in this group.
	consumers []broker.Subscription
	group     string
}

// alone are subscriptions without a group to one topic, on these connections.
func alone(topic string, connections ...int) []broker.Subscription {
	return members(topic, "", connections...)
}

// members are subscriptions of a group.
func members(topic, group string, connections ...int) (all []broker.Subscription) {
	for _, connection := range connections {
		all = append(all, broker.Subscription{Connection: connection, Topic: topic, Group: group})
	}
	return all
}

// rig is one session and its traffic. Its methods fail the test.
type rig struct {
	t       testing.TB
	shape   shape
	bytes   int // of a message
	session broker.Session
	// redeliversAfter is the driver's value: on a busy machine an acknowledgement may take longer, and then a second copy is not a fault.
	redeliversAfter time.Duration
	producers       []broker.Producer
	topics          []string
	closeOnce       sync.Once

	// mu guards done, the driver's reports, and the receipts of subscriptions.
	mu   sync.Mutex
	done []outcome
	told []string
}

type outcome struct {
	times  int
	sentNs int64
	ackNs  int64
	err    error
}

// now is the clock of all sessions.
var now = clock.New().Now

var names atomic.Uint32

// named returns topics that no other test uses: "brokertest.<number>.<name>".
func named(short ...string) []string {
	number := names.Add(1)
	long := make([]string, len(short))
	for i, name := range short {
		long[i] = fmt.Sprintf("brokertest.%d.%s", number, name)
	}
	return long
}

const (
	usualTimeout = 5 * time.Second
	usualBytes   = 256
)

// open makes a session and prepares the topics; the test's cleanup removes them.
func open(t testing.TB, s System, to shape, topics ...string) *rig {
	t.Helper()
	r := start(t, s, to, topics...)
	if err := r.prepare(); err != nil {
		t.Fatalf("prepare %q: %v", topics, err)
	}
	t.Cleanup(r.removeAndClose)
	r.producers = make([]broker.Producer, r.shape.connections)
	for c := range r.producers {
		var err error
		if r.producers[c], err = r.session.Producer(c); err != nil {
			t.Fatalf("producer %d: %v", c, err)
		}
	}
	return r
}

// start opens a session; the test's cleanup closes it.
func start(t testing.TB, s System, to shape, topics ...string) *rig {
	t.Helper()
	to.connections, to.partitions = max(1, to.connections), max(1, to.partitions)
	if to.consumers == nil {
		for _, topic := range topics {
			to.consumers = append(to.consumers, members(topic, to.group, to.connections-1)...)
		}
	}
	o := s.options(to)
	r := &rig{t: t, bytes: o.MessageBytes, shape: to, topics: topics}
	o.OnError = func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, err.Error())
	}
	session, err := s.Driver(o)
	if err != nil {
		t.Fatal(err)
	}
	r.session = session
	t.Cleanup(r.close)
	if err := bounded(session.Open); err != nil {
		t.Fatalf("open: %v", err)
	}
	r.redeliversAfter = session.Describe().RedeliversAfter
	return r
}

func (s System) options(to shape) broker.Options {
	o := broker.Options{
		URL: s.URL, Driver: s.DriverOptions, Durability: s.Durability, Connections: to.connections, MessageBytes: cmp.Or(to.bytes, usualBytes), MeanBytes: cmp.Or(to.bytes, usualBytes),
		TimeoutNs: int64(cmp.Or(s.Timeout, to.timeout, usualTimeout)), Now: now, Part: to.part, OnError: func(error) {}, Replicas: to.replicas,
	}
	if o.LimitBytes = to.limitBytes; o.LimitBytes > 0 {
		o.MessageBytes = o.LimitBytes + 1
	}
	return o
}

func (r *rig) prepare() error {
	layout := broker.Layout{Subscriptions: r.shape.consumers}
	for _, topic := range r.topics {
		layout.Topics = append(layout.Topics, broker.Topic{Name: topic, Partitions: r.shape.partitions})
	}
	return bounded(func(ctx context.Context) error { return r.session.Prepare(ctx, layout) })
}

// bounded gives a step as long as tests have patience.
func bounded(step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return step(ctx)
}

// consume makes the subscriptions of this client, as many at once as the driver takes; before may be nil.
func (r *rig) consume(before func(receipt)) []*subscription {
	r.t.Helper()
	all, err := r.subscribe(before, r.shape.consumers...)
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// consumer makes the subscription of that number.
func (r *rig) consumer(k int, before func(receipt)) *subscription {
	r.t.Helper()
	all, err := r.subscribe(before, r.shape.consumers[k])
	if err != nil {
		r.t.Fatal(err)
	}
	return all[0]
}

func (r *rig) subscribe(before func(receipt), to ...broker.Subscription) (all []*subscription, err error) {
	for _, one := range to {
		if one.Client == r.shape.part.Client {
			all = append(all, &subscription{Subscription: one, rig: r, before: before})
		}
	}
	return all, bounded(func(ctx context.Context) error {
		return deadline.Each(ctx, all, func(ctx context.Context, s *subscription) error {
			return broker.Wrap(fmt.Sprintf("consume %+v", s.Subscription), r.session.Consume(ctx, s.Subscription, s.handle))
		})
	})
}

// group is the group of consumers that may be in one; "" if the system has none.
func (s System) group() string {
	if s.NoGroups {
		return ""
	}
	return "workers"
}

// facts are the driver's description before topics are prepared.
func (s System) facts(t testing.TB) broker.Description {
	t.Helper()
	return start(t, s, shape{}).session.Describe()
}

// refused fails unless consumers are refused, before the first message.
func refused(t testing.TB, s System, to shape, what string, topics ...string) {
	t.Helper()
	r := start(t, s, to, topics...)
	err := r.prepare()
	t.Cleanup(r.removeAndClose)
	if err == nil {
		_, err = r.subscribe(nil, to.consumers...)
	}
	if err == nil {
		t.Errorf("%s is accepted by a system that has no such thing", what)
	}
}

// payload of an envelope: all bytes behind it depend on all of it.
func payload(size int, e envelope.Envelope) []byte {
	p := make([]byte, size)
	envelope.Put(p, e)
	word := e.Sequence*0x9e3779b97f4a7c15 + uint64(e.Stream)
	for i := envelope.Bytes; i+8 <= size; i += 8 {
		word = word*6364136223846793005 + 1442695040888963407
		binary.LittleEndian.PutUint64(p[i:], word)
	}
	return p
}

// sendAll sends messages from a number on, before another, to the first topic.
func (r *rig) sendAll(from, end int64) {
	for i := from; i < end; i++ {
		r.send(0, r.topics[0], i)
	}
}

// send sends message i to a topic, on partition 0.
func (r *rig) send(connection int, topic string, i int64) {
	r.sendTo(connection, &broker.Message{Name: topic, Index: i})
}

// sendTo sends m, with the payload of its index if it has none. The envelope's stream is an order's: one
// connection and partition, or the key's last digit.
func (r *rig) sendTo(connection int, m *broker.Message) {
	m.Topic = slices.Index(r.topics, m.Name)
	stream := uint32(connection) + 100*uint32(max(0, m.Partition))
	if len(m.Key) > 0 {
		stream = uint32(m.Key[len(m.Key)-1] - '0')
	}
	r.mu.Lock()
	sentNs := now()
	slot := len(r.done)
	r.done = append(r.done, outcome{sentNs: sentNs})
	r.mu.Unlock()
	if m.Payload == nil {
		m.Payload = payload(r.bytes, envelope.Envelope{Run: 1, Stream: stream, Sequence: uint64(m.Index), Sent: sentNs})
	}
	r.producers[connection].Send(m, func(of *broker.Message, ackNs int64, err error) {
		if of != m {
			r.t.Errorf("done is called with another message than the one of the send")
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done[slot].times++
		r.done[slot].ackNs, r.done[slot].err = ackNs, err
	})
}

// settled waits a little for deliveries that must not come.
func settled() { time.Sleep(150 * time.Millisecond) }

func (r *rig) doneSoFar() []outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.done)
}

// ended is how many sends have ended so.
func (r *rig) ended(so func(error) bool) (n int) {
	for _, d := range r.doneSoFar() {
		if d.times > 0 && so(d.err) {
			n++
		}
	}
	return n
}

// settles returns when done was called for each send.
func (r *rig) settles() {
	r.t.Helper()
	r.eventually(func() bool {
		return !slices.ContainsFunc(r.doneSoFar(), func(d outcome) bool { return d.times == 0 })
	}, func() string { return "done is called for each send" })
}

func (r *rig) eventually(holds func() bool, what func() string) {
	r.t.Helper()
	eventually(r.t, patience+r.redeliversAfter, holds, what)
}

func eventually(t testing.TB, limit time.Duration, holds func() bool, what func() string) {
	t.Helper()
	deadline, wait, said := time.Now().Add(limit), time.Millisecond/2, what()
	last := deadline.Add(3 * limit)
	for ; !holds(); time.Sleep(wait) {
		if time.Now().After(deadline) {
			// What goes on, such as a count, gets as long again, three times at most: the machine may be busy.
			now := what()
			if now == said || time.Now().After(last) {
				t.Fatalf("not within %s: %s", limit, now)
			}
			deadline, said = time.Now().Add(limit), now
		}
		wait = min(2*wait, 20*time.Millisecond) // a look at many messages takes time itself
	}
}

// within fails if do does not return.
func (r *rig) within(what string, do func()) {
	r.t.Helper()
	if !deadline.AtMost(patience, do) {
		r.t.Fatalf("%s hangs", what)
	}
}

// removeAndClose ends a session that a test left open, and removes its objects from the broker.
func (r *rig) removeAndClose() {
	r.closeOnce.Do(func() {
		r.remove()
		r.end()
	})
}

func (r *rig) remove() {
	r.t.Helper()
	if err := bounded(func(ctx context.Context) error { return broker.Remove(ctx, r.session) }); err != nil {
		r.t.Errorf("remove: %v", err)
	}
}

func (r *rig) close() { r.closeOnce.Do(r.end) }

func (r *rig) end() {
	if err := r.session.Close(); err != nil {
		r.t.Errorf("close: %v", err)
	}
}

// countsNothing fails if the driver has counted messages that were thrown away, or lost connections.
func (r *rig) countsNothing() {
	r.t.Helper()
	for what, n := range map[string]*int64{"messages that the library dropped": broker.Dropped(r.session), "reconnects": broker.Reconnects(r.session)} {
		if n != nil && *n != 0 {
			r.t.Errorf("%d %s; there were none", *n, what)
		}
	}
}

// holds fails unless a number between least and most waits in the client library, if the driver counts it.
func (r *rig) holds(least, most int64) {
	r.t.Helper()
	if broker.Held(r.session) == nil && least == 0 {
		return
	}
	r.eventually(func() bool {
		held := broker.Held(r.session)
		return held != nil && *held >= least && *held <= most
	}, func() string {
		return fmt.Sprintf("the driver says that from %d to %d messages wait in the library", least, most)
	})
}
