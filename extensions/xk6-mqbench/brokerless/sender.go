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
	closeTimeout  = time.Second
	answerTimeout = 10 * time.Second
)

// sender has a socket for each topic.
type sender struct {
	*conn
	of   *driver
	mu   sync.Mutex
	outs map[string]Out
}

// Send connects first where nothing of the topic was sent before. It blocks as the library does.
func (p *sender) Send(m *broker.Message, done broker.Done) {
	done(m, 0, broker.Wrap(p.of.name, p.send(m)))
}

// conn is over when the session is, or when the forwarder, which then forgets what was on it, has gone.
type conn struct {
	broker.Lifetime
	// calls are to the forwarder; nil if there is none.
	calls   *rpc.Client
	release func()
}

func (c *conn) Close() error {
	c.End(net.ErrClosed)
	c.release()
	return nil
}

// --- internal ---

// connect makes a connection, which releases what belongs to it when it is over.
func (d *driver) connect(ctx context.Context, release func()) (*conn, error) {
	c := &conn{Lifetime: broker.NewLifetime(d.Over), release: sync.OnceFunc(release)}
	context.AfterFunc(c, c.release)
	if d.direct {
		return c, nil
	}
	tcp, err := d.Dialer(0, nil)(ctx, "tcp", d.At.Hosts[0])
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	context.AfterFunc(c, func() { _ = tcp.Close() })
	c.calls = rpc.NewClient(watched{tcp, c.End})
	version, err := c.ask(ctx, "Hello", d.own.Mode)
	if err != nil {
		return nil, errors.Join(errors.New("it is not mqbench's forwarder"), c.Close())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version = version
	return c, nil
}

// watched ends the lifetime of a connection that the forwarder closes.
type watched struct {
	net.Conn
	end context.CancelCauseFunc
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err != nil {
		w.end(errors.New("the forwarder has closed it"))
	}
	return n, err
}

func (c *conn) ask(ctx context.Context, method string, question any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var said string
	err := deadline.While(ctx, func() error { return c.calls.Call(service+"."+method, question, &said) })
	if err != nil { // said may still be written
		return "", broker.Wrap("the forwarder", err)
	}
	return said, nil
}

func (p *sender) send(m *broker.Message) error {
	if p.of.own.Mode == ReqRep && strings.HasSuffix(m.Name, replySuffix) {
		return p.of.reply(m)
	}
	to, err := p.route(m.Name)
	if err != nil {
		return err
	}
	if err = to.Send(Message{Topic: m.Name, Payload: m.Payload}); err == nil || errors.Is(err, ErrNotConnected) {
		return err
	}
	return fmt.Errorf("%w: %w", err, broker.ErrUnknown)
}

// route is the topic's socket, connected to the forwarder's entrance, or to the subscriptions that cover it: they are there before anything is sent.
func (p *sender) route(topic string) (Out, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if out := p.outs[topic]; out != nil {
		return out, nil
	}
	if p.Err() != nil {
		return nil, errors.New("send: the session is closed")
	}
	targets := slices.DeleteFunc(p.of.receivers.All(), func(e broker.Endpoint) bool { return !covers(e, topic) })
	if p.calls != nil {
		entrance, err := p.ask(p, "Entrance", topic)
		if err != nil {
			return nil, err
		}
		targets = []broker.Endpoint{{Address: entrance}}
	}
	out, err := p.of.library.Sender(p.of.own.Mode, p.of.replied(topic), p.of.Base)
	if err != nil {
		return nil, err
	}
	for _, e := range targets {
		if err := out.Connect(p, e.Address, prefixOf(e)); err != nil {
			return nil, errors.Join(fmt.Errorf("connect to the subscription of %q at %s: %w", topic, e.Address, err), out.Close())
		}
	}
	p.outs[topic] = out
	return out, nil
}

// drop closes the sockets.
func (p *sender) drop() {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.outs))
	clear(p.outs)
	p.mu.Unlock()
	deadline.AtMost(closeTimeout, deadline.Steps(all, func(out Out) { _ = out.Close() })...)
}
