package generator

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// stub is a broker in this process that the sessions of one or several clients share. A test sets its behaviour; fields left out mean the
// plain case.
type stub struct {
	facts broker.Description
	acks  bool
	// ctx is k6's; nil if it never ends.
	ctx context.Context
	// onNew gets each generator before it opens.
	onNew func(*Generator)
	// wrap is the session that the generator gets.
	wrap func(*session) broker.Session
	// onSend runs inside of Send and may block; its error refuses the message.
	onSend func(m *broker.Message) error
	// answer is the result of sending message i, which is delivered in any case, and its delay. errNever: no answer; nil: immediate success.
	answer func(i int64) (time.Duration, error)
	// copies is how often message i arrives at a subscription (numbered as in the layout), in a group at one member after the other.
	copies func(subscription int, i int64) int
	// later is the delay after which message i arrives a second time; 0 means never.
	later func(i int64) time.Duration
	// receive is called before each delivery, in the goroutine of the subscription, with the producer's sequence; it may block.
	receive func(topic string, i int64)
	// alter changes a payload on its way.
	alter func(i int64, payload []byte)
	// overtaken messages arrive after the next one.
	overtaken func(i int64) bool
	// again are the deliveries that carry the broker's flag of a second one.
	again func(sequence int64) bool
	// noConsumers and noRemoval are the errors of Consume and Remove.
	noConsumers, noRemoval error
	// leader is the node that leads a topic.
	leader func(ctx context.Context, topic string) (string, error)

	mu            sync.Mutex
	prepared      broker.Layout
	subscriptions []*stubSubscription
	held          [][]byte
	// events in their order: "make 3 topics", "take 3 topics", "remove topics", "remove nothing", "close".
	events []string
	// sent has all envelopes in their order, connections the number of each session.
	sent        []envelope.Envelope
	connections []int
	// under way: queued, or in a handler.
	under atomic.Int64
}

type stubSubscription struct {
	broker.Subscription
	made  bool
	queue chan []byte
}

// session is one client's.
type session struct {
	*stub
	o    broker.Options
	quit chan struct{}
	once sync.Once
}

func (s *stub) driver(o broker.Options) (broker.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections = append(s.connections, o.Connections)
	made := &session{stub: s, o: o, quit: make(chan struct{})}
	if s.wrap != nil {
		return s.wrap(made), nil
	}
	return made, nil
}

func (s *stub) note(format string, arguments ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, fmt.Sprintf(format, arguments...))
}

func (s *session) Open(context.Context) error { return nil }

func (s *session) Prepare(_ context.Context, layout broker.Layout) error {
	s.note("%s %d topics", map[bool]string{false: "make", true: "take"}[s.o.Found()], len(layout.Topics))
	if s.subscriptions != nil {
		return nil
	}
	s.prepared = layout
	for _, to := range layout.Subscriptions {
		s.subscriptions = append(s.subscriptions, &stubSubscription{Subscription: to, queue: make(chan []byte, 1<<14)})
	}
	return nil
}

func (s *session) Remove(context.Context) error {
	s.note("remove %s", map[bool]string{false: "topics", true: "nothing"}[s.o.Found()])
	return s.noRemoval
}

func (s *session) Close() error {
	s.once.Do(func() { s.note("close"); close(s.quit) })
	return nil
}

func (s *session) Producer(c int) (broker.Producer, error) {
	if c >= s.o.Connections {
		return nil, fmt.Errorf("connection %d of %d", c, s.o.Connections)
	}
	return s, nil
}

func (s *session) Dropped() int64    { return 0 }
func (s *session) Reconnects() int64 { return 0 }

func (s *session) Describe() broker.Description {
	d := s.facts
	d.Acks, d.Order, d.Library, d.Server, d.Settings = s.acks, "per-producer", "stub 1", "stub 1", map[string]string{"acknowledgeInGroup": "each message"}
	return d
}

func (s *session) Leader(ctx context.Context, topic string) (string, error) {
	if s.leader == nil {
		return "", nil
	}
	return s.leader(ctx, topic)
}

func (s *session) Held() (n int64, known bool) {
	for _, sub := range s.subscriptions {
		n += int64(len(sub.queue))
	}
	return n, true
}

func (s *session) Consume(_ context.Context, to broker.Subscription, handle broker.Handler) error {
	if s.noConsumers != nil {
		return s.noConsumers
	}
	if to.Connection >= s.o.Connections {
		return fmt.Errorf("connection %d of %d", to.Connection, s.o.Connections)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.subscriptions, func(one *stubSubscription) bool { return one.Subscription == to && !one.made })
	sub := s.subscriptions[i]
	sub.made = true
	go func() {
		for {
			select {
			case payload := <-sub.queue:
				i := int64(binary.BigEndian.Uint64(payload[16:]))
				if s.receive != nil {
					s.receive(to.Topic, i)
				}
				handle(broker.Delivery{ReceivedNs: s.o.Now(), Payload: payload, Redelivered: s.again != nil && s.again(i)})
				s.under.Add(-1)
			case <-s.quit:
				return
			}
		}
	}()
	return nil
}

func (s *session) Send(m *broker.Message, done broker.Done) {
	if s.onSend != nil {
		if err := s.onSend(m); err != nil {
			done(m, 0, err)
			return
		}
	}
	if s.later != nil && s.later(m.Index) > 0 {
		again := &broker.Message{Index: m.Index, Name: m.Name, Payload: bytes.Clone(m.Payload)}
		time.AfterFunc(s.later(m.Index), func() { s.deliver(again, func(int, int64) int { return 1 }) })
	}
	s.deliver(m, s.copies)
	delay, err := time.Duration(0), error(nil)
	if s.answer != nil {
		delay, err = s.answer(m.Index)
	}
	switch {
	case err == errNever:
	case delay > 0:
		time.AfterFunc(delay, func() { done(m, s.o.Now(), err) })
	default:
		done(m, s.o.Now(), err)
	}
}

// deliver gives a message to all without a group, and to one of the group: by the message's partition where the stub keeps order in
// groups, by its number otherwise.
func (s *stub) deliver(m *broker.Message, copies func(subscription int, i int64) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, _ := envelope.Get(m.Payload)
	s.sent = append(s.sent, e)
	times := func(subscription int) int {
		if copies == nil {
			return 1
		}
		return copies(subscription, m.Index)
	}
	var members []int
	for k, sub := range s.subscriptions {
		prefix, wild := strings.CutSuffix(sub.Topic, "*")
		switch {
		case sub.Topic != m.Name && !(wild && sub.Wildcard && strings.HasPrefix(m.Name, prefix)):
		case sub.Group != "":
			members = append(members, k)
		default:
			for range times(k) {
				s.enqueue(sub, m)
			}
			s.overtake(sub, m)
		}
	}
	if len(members) == 0 {
		return
	}
	first := m.Index
	if s.facts.GroupOrder {
		first = int64(m.Partition)
	}
	member := func(k int64) int { return members[(first+k)%int64(len(members))] }
	for k := range times(member(0)) {
		s.enqueue(s.subscriptions[member(int64(k))], m)
	}
}

func (s *stub) enqueue(to *stubSubscription, m *broker.Message) {
	payload := bytes.Clone(m.Payload)
	if s.alter != nil {
		s.alter(m.Index, payload)
	}
	if s.overtaken != nil && s.overtaken(m.Index) {
		s.held = append(s.held, payload)
		return
	}
	s.under.Add(1)
	to.queue <- payload
}

// overtake delivers the messages that message m has overtaken.
func (s *stub) overtake(sub *stubSubscription, m *broker.Message) {
	if s.overtaken == nil || s.overtaken(m.Index) {
		return
	}
	for _, payload := range s.held {
		s.under.Add(1)
		sub.queue <- payload
	}
	s.held = nil
}

// mirror is a session that delivers each message inside of Send, and costs next to nothing itself.
type mirror struct {
	*session
	handle broker.Handler
}

func (m *mirror) Producer(int) (broker.Producer, error) { return m, nil }
func (m *mirror) Consume(_ context.Context, _ broker.Subscription, handle broker.Handler) error {
	m.handle = handle
	return nil
}
func (m *mirror) Send(message *broker.Message, done broker.Done) {
	m.handle(broker.Delivery{ReceivedNs: m.o.Now(), Payload: message.Payload})
	done(message, 0, nil)
}

// inline is a broker that declares that it delivers inside of Send: it cannot push back.
func inline() *stub {
	return &stub{facts: broker.Description{Inline: true}, wrap: func(s *session) broker.Session { return &mirror{session: s} }}
}

// nap is a sleep that records its real length: on a machine that others use too it is longer than asked for.
type nap struct{ tookNs atomic.Int64 }

func (n *nap) take(d time.Duration) {
	began := time.Now()
	time.Sleep(d)
	n.tookNs.Store(int64(time.Since(began)))
}

func (n *nap) ms() int64 { return n.tookNs.Load() / ms }

// at has a broker do something when it receives message i of a producer.
func at(i int64, do func()) func(string, int64) {
	return func(_ string, seq int64) {
		if seq == i {
			do()
		}
	}
}

// refused are the errors of sends.
func refused(which func(i int64) bool) func(*broker.Message) error {
	return func(m *broker.Message) error {
		if which(m.Index) {
			return errRefused
		}
		return nil
	}
}

var errRefused, errNever = errors.New("refused"), errors.New("never")

// without loses messages.
func without(lost func(i int64) bool) func(int, int64) int {
	return func(_ int, i int64) int {
		if lost(i) {
			return 0
		}
		return 1
	}
}

// unless acknowledges all but some messages, at this delay after their send.
func unless(silent func(i int64) bool, after time.Duration) func(i int64) (time.Duration, error) {
	return func(i int64) (time.Duration, error) { return after, map[bool]error{true: errNever}[silent(i)] }
}

// flight counts the messages in flight.
type flight struct {
	mu      sync.Mutex
	now     int64
	highest int64
}

func (f *flight) add(n int64) (now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += n
	f.highest = max(f.highest, f.now)
	return f.now
}

// count is how many of the messages [from, to) are hit.
func count(from, to int64, hit func(i int64) bool) (n int64) {
	for i := from; i < to; i++ {
		if hit(i) {
			n++
		}
	}
	return n
}

func every(n, at int64) func(int64) bool { return func(i int64) bool { return i%n == at } }

func only(k int64) func(int64) bool { return func(i int64) bool { return i == k } }
