package brokerless

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// sender is the sending side of a connection: a socket for each topic.
type sender struct {
	session *Session
	mu      sync.Mutex
	outs    map[string]*route
	closed  bool
}

// route is where messages of a topic go.
type route struct {
	topic string
	out   Out
	// known are the addresses that it is connected to.
	known map[string]bool
}

// Send connects first where nothing of the topic was sent before. It blocks as the library does.
func (p *sender) Send(m *broker.Message, done broker.Done) {
	if err := p.send(m); err != nil {
		done(m, 0, fmt.Errorf("%s: %w", p.session.name, err))
		return
	}
	done(m, 0, nil)
}

// --- internal ---

func (p *sender) send(m *broker.Message) error {
	s := p.session
	if s.base.Over.Err() != nil {
		return errClosed
	}
	if s.own.Mode == ReqRep && strings.HasSuffix(m.Name, replySuffix) {
		return s.reply(m)
	}
	to, err := p.route(s.base.Over, m.Name)
	if err != nil {
		return err
	}
	err = to.out.Send(Message{Topic: m.Name, Payload: m.Payload})
	switch {
	case err == nil:
		return nil
	case s.base.Over.Err() != nil:
		return fmt.Errorf("%w: %w", errClosed, broker.ErrUnknown)
	case errors.Is(err, ErrNotConnected):
		return err
	}
	return fmt.Errorf("%w: %w", err, broker.ErrUnknown)
}

// route is the topic's socket, connected to all that are subscribed.
func (p *sender) route(ctx context.Context, topic string) (*route, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to := p.outs[topic]; to != nil {
		return to, nil
	}
	if p.closed {
		return nil, errClosed
	}
	s := p.session
	out, err := s.library.Sender(s.own.Mode, func(m Message) { s.replied(topic, m) },
		func(err error) { s.base.Report("connection lost", address.Cause(err)) }, s.base.Reconnected)
	if err != nil {
		return nil, err
	}
	to := &route{topic: topic, out: out, known: map[string]bool{}}
	p.outs[topic] = to
	receivers := s.receivers(topic)
	if s.forwarder != nil {
		at, err := s.forwarder.entrance(ctx, topic)
		if err != nil {
			delete(p.outs, topic)
			return nil, errors.Join(err, out.Close())
		}
		receivers = []broker.Endpoint{at}
	}
	for _, e := range receivers {
		if err := to.connect(ctx, e); err != nil {
			delete(p.outs, topic)
			return nil, errors.Join(err, out.Close())
		}
	}
	return to, nil
}

// connect makes another subscription known to sockets that are there already.
func (p *sender) connect(ctx context.Context, e broker.Endpoint) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for topic, to := range p.outs {
		if covers(e, topic) {
			if err := to.connect(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget closes the sockets: the forwarder that they were connected to is another one now.
func (p *sender) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for topic, to := range p.outs {
		delete(p.outs, topic)
		go func() { _ = to.out.Close() }()
	}
}

func (p *sender) close() {
	p.mu.Lock()
	p.closed = true
	var all []func()
	for _, to := range p.outs {
		all = append(all, func() { _ = to.out.Close() })
	}
	p.mu.Unlock()
	deadline.AtMost(closeTimeout, all...)
}

func (to *route) connect(ctx context.Context, e broker.Endpoint) error {
	if to.known[e.Address] {
		return nil
	}
	to.known[e.Address] = true
	return broker.Wrap(fmt.Sprintf("connect to the subscription of %q at %s", e.Topic, e.Address), to.out.Connect(ctx, e.Address, prefixOf(e)))
}
