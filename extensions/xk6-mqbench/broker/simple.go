package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// Simple is a driver each of whose connections sends, or has one subscription. SimpleDriver makes a Driver of it, which connects, replaces lost
// connections, and ends them. Any goroutine may call its methods. With sockets by Base.Dialer, Base.Mortal or Base.Socket it is a Killer;
// it may be a Dropper, Throttler or Requester.
type Simple interface {
	// Sender makes a connection that sends.
	Sender(ctx context.Context) (Sender, error)
	// Consumer makes a connection with a subscription, and returns when the broker has confirmed it. One goroutine calls handle for each message, and
	// acknowledges it afterwards if there is a group. name is the group, or without one a unique name; it is the same after a reconnect.
	Consumer(ctx context.Context, to Subscription, name string, handle Handler) (Conn, error)
	// Prepare makes the topics, and empties those that exist. Remove removes them, and all that Consumer has made. Client 0 calls them.
	Prepare(ctx context.Context, layout Layout) error
	Remove(ctx context.Context, layout Layout) error
	Describe() Description
}

// Conn is a connection.
type Conn interface {
	Wire
	// Close ends it immediately.
	Close() error
}

// Sender is a connection that sends. When it ends, Send fails, and what waits for an answer is completed with ErrUnknown.
type Sender interface {
	Conn
	Producer
}

// SimpleDriver makes a driver. name is its broker's and the URL's scheme, port the default port, defaults those of its options. of makes the rest,
// without I/O. A driver that can use the user's own topics is not simple.
func SimpleDriver[Own any](name, port string, defaults Own, of func(*Base, Own) Simple) Driver {
	return func(o Options) (Session, error) {
		b, own := NewBase(name, o), defaults
		err := o.Decode(&own)
		if err == nil && o.Run != "" {
			err = errors.New("its driver only measures topics of mqbench; drop create: false")
		}
		if err == nil {
			b.At, err = address.Parse(o.URL, port, name)
		}
		return &simple{Base: b, Simple: of(b, own)}, Wrap(name, err)
	}
}

// --- internal ---

const (
	simpleDial = 5 * time.Second
	simpleWait = 100 * time.Millisecond
)

type simple struct {
	*Base
	Simple
	layout    Layout
	senders   []*simpleLink
	consumers List[*simpleLink]
	alone     atomic.Int64
}

var _ Remover = (*simple)(nil)

type simpleLink struct{ Link[Conn] }

func (l *simpleLink) Send(m *Message, done Done) {
	if at, is := l.Now(); is {
		at.(Sender).Send(m, done)
		return
	}
	done(m, 0, errNotConnected)
}

// link bounds attempts to connect: a server that is frozen takes connections.
func (s *simple) link(ctx context.Context, dial func(context.Context) (Conn, error)) (*simpleLink, error) {
	l := &simpleLink{Link[Conn]{Wait: simpleWait}}
	return l, address.Cause(l.Open(ctx, s.Base, func(ctx context.Context) (Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, simpleDial)
		defer cancel()
		return dial(ctx)
	}))
}

func (s *simple) Open(ctx context.Context) error {
	for i := range s.Connections {
		l, err := s.link(ctx, func(ctx context.Context) (Conn, error) { return s.Sender(ctx) })
		if err != nil {
			return fmt.Errorf("%s: connect: %w", s.driver, Nth(i, s.Connections, err))
		}
		s.senders = append(s.senders, l)
	}
	return nil
}

func (s *simple) Prepare(ctx context.Context, layout Layout) error {
	if s.layout = layout; s.Client > 0 {
		return nil
	}
	return Wrap(s.driver+": prepare topics", s.Simple.Prepare(ctx, layout))
}

func (s *simple) Producer(connection int) (Producer, error) { return s.senders[connection], nil }

func (s *simple) Consume(ctx context.Context, to Subscription, handle Handler) error {
	name := cmp.Or(to.Group, fmt.Sprintf("alone-%d-%d", s.Client, s.alone.Add(1)))
	var one sync.Mutex // the last message of a lost connection may still be in work when the next connection has one
	l, err := s.link(ctx, func(ctx context.Context) (Conn, error) {
		return s.Consumer(ctx, to, name, func(d Delivery) {
			one.Lock()
			defer one.Unlock()
			handle(d)
		})
	})
	s.consumers.Add(l)
	return Wrap(fmt.Sprintf("%s: subscribe to %q", s.driver, to.Topic), err)
}

func (s *simple) Remove(ctx context.Context) error {
	s.Quiet()
	hangUp(s.consumers.All())
	if s.Client > 0 {
		return nil
	}
	return Wrap(s.driver+": remove topics", s.Simple.Remove(ctx, s.layout))
}

func (s *simple) Close() error {
	s.End()
	hangUp(append(s.consumers.All(), s.senders...))
	return nil
}

func hangUp(links []*simpleLink) {
	deadline.AtMost(time.Second, deadline.Steps(links, func(l *simpleLink) {
		if at, is := l.Now(); is {
			_ = at.Close()
		}
	})...)
}
