// Package noop is a system that delivers each message at once, without a broker: what it shows is the floor of
// the generator, below which no other system can be measured.
package noop

import (
	"context"
	"fmt"
	"sync"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// New makes a session. The URL is not used, and there are no options.
func New(o broker.Options) (broker.Session, error) {
	if err := o.Decode(&struct{}{}); err != nil {
		return nil, err
	}
	return &session{now: o.Now, handlers: map[string]broker.Handler{}}, nil
}

type session struct {
	now      func() int64
	mu       sync.RWMutex
	handlers map[string]broker.Handler
	closed   bool
}

type producer struct{ *session }

var (
	_ broker.Session  = (*session)(nil)
	_ broker.Producer = producer{}
)

func (s *session) Open(context.Context) error              { return nil }
func (s *session) Prepare(context.Context, []string) error { return nil }
func (s *session) Producer(int) (broker.Producer, error)   { return producer{s}, nil }
func (s *session) Dropped() int64                          { return 0 }

func (s *session) Consume(_ context.Context, _ int, topic string, handle broker.Handler) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handlers[topic] != nil {
		return fmt.Errorf("noop: topic %q has a consumer already", topic)
	}
	s.handlers[topic] = handle
	return nil
}

func (s *session) Describe() broker.Description {
	return broker.Description{Inline: true, Order: "per-producer", Library: "noop", Server: "noop", Settings: map[string]string{}}
}

func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (p producer) Send(m *broker.Message, done broker.Done) {
	p.mu.RLock()
	handle, closed := p.handlers[m.Name], p.closed
	p.mu.RUnlock()
	if closed {
		done(m, 0, fmt.Errorf("noop: send: the session is closed"))
		return
	}
	if handle != nil {
		handle(broker.Delivery{ReceivedNs: p.now(), Payload: m.Payload})
	}
	done(m, 0, nil)
}
