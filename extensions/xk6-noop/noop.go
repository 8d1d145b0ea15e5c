// Package noop delivers each message at once, without a broker: the floor of the generator, below which no other system can be measured.
package noop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// New makes a session. The URL is not used, and there are no options.
func New(o broker.Options) (broker.Session, error) {
	if err := o.Decode(&struct{}{}); err != nil {
		return nil, fmt.Errorf("noop: %w", err)
	}
	s := &session{now: o.Now}
	s.routes.Store(&map[string][]*group{})
	return s, nil
}

// session can take any part in a run, since there is no broker.
type session struct {
	now    func() int64
	topics []broker.Topic
	// consuming is held while a subscription is made.
	consuming sync.Mutex
	// routes are the groups of each topic. A stored map never changes: Send reads it without a lock, also from within a handler.
	routes atomic.Pointer[map[string][]*group]
	closed atomic.Bool
}

// group takes each message of its topic once. A subscription without a group is a group by itself.
type group struct {
	name    string
	members []*member
	next    atomic.Uint64
}

type member struct {
	mu     sync.Mutex // one goroutine at a time calls handle
	handle broker.Handler
}

var errClosed = errors.New("noop: send: the session is closed")

func (s *session) Open(context.Context) error            { return nil }
func (s *session) Producer(int) (broker.Producer, error) { return s, nil }
func (s *session) Dropped() int64                        { return 0 }
func (s *session) Reconnects() int64                     { return 0 }
func (s *session) Held() (int64, bool)                   { return 0, true }

func (s *session) Prepare(_ context.Context, layout broker.Layout) error {
	s.topics = layout.Topics
	return nil
}

func (s *session) Consume(_ context.Context, to broker.Subscription, handle broker.Handler) error {
	s.consuming.Lock()
	defer s.consuming.Unlock()
	routes := maps.Clone(*s.routes.Load())
	m := &member{handle: handle}
	for _, topic := range to.Of(s.topics) {
		routes[topic] = joined(routes[topic], to.Group, m)
	}
	s.routes.Store(&routes)
	return nil
}

func (s *session) Describe() broker.Description {
	settings := map[string]string{}
	for _, name := range broker.EachMessage {
		settings[name] = "none"
	}
	return broker.Description{
		Inline: true, Order: "per-producer", GroupOrder: true, Wildcards: true, Library: "noop", Server: "noop", Settings: settings,
	}
}

func (s *session) Close() error {
	s.closed.Store(true)
	return nil
}

func (s *session) Send(m *broker.Message, done broker.Done) {
	if s.closed.Load() {
		done(m, 0, errClosed)
		return
	}
	for _, g := range (*s.routes.Load())[m.Name] {
		g.deliver(s.now, m.Payload)
	}
	done(m, 0, nil)
}

// --- internal ---

// joined is a copy of a topic's groups with one more member.
func joined(groups []*group, name string, m *member) []*group {
	after := slices.Clone(groups)
	for i, g := range after {
		if name != "" && g.name == name {
			after[i] = &group{name: name, members: append(slices.Clone(g.members), m)}
			return after
		}
	}
	return append(after, &group{name: name, members: []*member{m}})
}

// deliver hands a message to the member whose turn it is.
func (g *group) deliver(now func() int64, payload []byte) {
	m := g.members[0]
	if len(g.members) > 1 {
		m = g.members[g.next.Add(1)%uint64(len(g.members))]
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handle(broker.Delivery{ReceivedNs: now(), Payload: payload})
}
