package brokerless

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/rpc"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	dialTimeout   = 5 * time.Second
	answerTimeout = 10 * time.Second
	reconnectWait = 100 * time.Millisecond
)

// sender is the sending side of a connection: a socket for each topic.
type sender struct {
	session *Session
	mu      sync.Mutex
	outs    map[string]Out
}

// Send connects first where nothing of the topic was sent before. It blocks as the library does.
func (p *sender) Send(m *broker.Message, done broker.Done) {
	done(m, 0, broker.Wrap(p.session.name, p.send(m)))
}

// --- internal ---

func (p *sender) send(m *broker.Message) error {
	s := p.session
	if s.Over.Err() != nil {
		return errClosed
	}
	if s.own.Mode == ReqRep && strings.HasSuffix(m.Name, replySuffix) {
		return s.reply(m)
	}
	to, err := p.route(s.Over, m.Name)
	if err != nil {
		return err
	}
	err = to.Send(Message{Topic: m.Name, Payload: m.Payload})
	switch {
	case err == nil || errors.Is(err, ErrNotConnected):
		return err
	case s.Over.Err() != nil:
		err = errClosed
	}
	return fmt.Errorf("%w: %w", err, broker.ErrUnknown)
}

// route is the topic's socket, connected to all that are subscribed: subscriptions are there before anything is sent.
func (p *sender) route(ctx context.Context, topic string) (Out, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if out := p.outs[topic]; out != nil {
		return out, nil
	}
	s := p.session
	if s.Over.Err() != nil {
		return nil, errClosed
	}
	targets, err := s.targets(ctx, topic)
	if err != nil {
		return nil, err
	}
	out, err := s.library.Sender(s.own.Mode, func(m Message) { s.replied(topic, m) }, s.Base)
	if err != nil {
		return nil, err
	}
	for _, e := range targets {
		if err := out.Connect(ctx, e.Address, prefixOf(e)); err != nil {
			return nil, errors.Join(fmt.Errorf("connect to the subscription of %q at %s: %w", e.Topic, e.Address, err), out.Close())
		}
	}
	p.outs[topic] = out
	return out, nil
}

// close closes the sockets, and forgets them: the session is over, or the forwarder that they were connected to is another one now.
func (p *sender) close() {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.outs))
	clear(p.outs)
	p.mu.Unlock()
	deadline.AtMost(closeTimeout, deadline.Steps(all, func(out Out) { _ = out.Close() })...)
}

// wire is a connection to the forwarder, which forgets everything when it is lost: subscriptions are announced again, and senders ask again.
type wire struct {
	net.Conn
	broker.Lifetime
	calls *rpc.Client
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err != nil {
		w.End(errors.New("the forwarder has closed it"))
	}
	return n, err
}

// dial makes a connection and registers all subscriptions on it.
func (s *Session) dial(ctx context.Context) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.server)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, Lifetime: broker.NewLifetime(s.Over)}
	context.AfterFunc(w, func() {
		_ = conn.Close()
		deadline.AtMost(closeTimeout, deadline.Steps(s.senders.All(), (*sender).close)...)
	})
	w.calls = rpc.NewClient(w)
	version, err := w.ask(ctx, "Hello", s.own.Mode)
	if err != nil {
		return nil, errors.Join(errors.New("it is not mqbench's forwarder"), conn.Close())
	}
	s.mu.Lock()
	s.version = version
	subscribed := s.ins
	s.mu.Unlock()
	for _, one := range subscribed {
		if _, err := w.ask(ctx, "Subscribe", one.Endpoint); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return w, nil
}

func (s *Session) ask(ctx context.Context, method string, question any) (string, error) {
	w, is := s.forwarder.Now()
	if !is {
		return "", ErrNotConnected
	}
	return w.ask(ctx, method, question)
}

func (w *wire) ask(ctx context.Context, method string, question any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var said string
	err := deadline.While(ctx, func() error { return w.calls.Call(service+"."+method, question, &said) })
	if err == nil {
		return said, nil
	}
	if refused := rpc.ServerError(""); !errors.As(err, &refused) && ctx.Err() == nil {
		return "", ErrNotConnected
	}
	return "", broker.Wrap("the forwarder", err)
}
