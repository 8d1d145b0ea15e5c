package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// connection is one that comes and goes.
type connection struct {
	*nats.Conn
	s      *core
	socket net.Conn
}

var _ broker.Dialer = (*core)(nil)

func (s *core) Dial(ctx context.Context, n int64) (broker.Connection, error) {
	d := &dialling{ctx: ctx}
	c, err := nats.Connect(s.from(int(n%int64(len(s.servers)))), append(s.options().Options,
		nats.Name("mqbench-connection-"+strconv.FormatInt(n, 10)), nats.SetCustomDialer(d), nats.DontRandomize(), nats.NoReconnect(),
		nats.Timeout(broker.Patience(ctx)), nats.WriteBufferSize(broker.SmallBuffer),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { s.Report("asynchronous error", err) }),
	)...)
	if errors.Is(err, nats.ErrNoServers) { // the library does not say why
		err = cmp.Or(d.err, err)
	}
	if err != nil {
		return nil, fmt.Errorf("nats: connect: %w", address.Cause(err))
	}
	if !d.keep() {
		c.Close()
		return nil, ctx.Err()
	}
	return &connection{c, s, d.socket}, nil
}

// Greet needs no flush: the server handles a connection's commands in their order.
func (c *connection) Greet(_ context.Context, m *broker.Message, handle broker.Handler) error {
	_, err := c.Subscribe(m.Own(), func(m *nats.Msg) { handle(broker.Delivery{ReceivedNs: c.s.Now(), Payload: m.Data}) })
	return cmp.Or(err, c.Publish(m.Own(), m.Payload))
}

func (c *connection) Gone() bool { return !c.IsConnected() }

// Close flushes, and cuts the socket of a server that does not take it.
func (c *connection) Close() {
	late := time.AfterFunc(closeTimeout, func() { _ = c.socket.Close() })
	defer late.Stop()
	c.Conn.Close()
}

// --- internal ---

// dialling makes the sockets of one connection. They end with ctx, unless keep is called before.
type dialling struct {
	ctx    context.Context
	socket net.Conn
	keep   func() bool
	err    error
}

func (d *dialling) Dial(network, at string) (net.Conn, error) {
	socket, err := (&net.Dialer{}).DialContext(d.ctx, network, at)
	if err == nil {
		d.keep = context.AfterFunc(d.ctx, func() { _ = socket.Close() })
	}
	d.socket, d.err = socket, err
	return socket, err
}
