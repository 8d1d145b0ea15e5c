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
	s     *core
	wires *address.Wires
}

var _ broker.Dialer = (*core)(nil)

func (s *core) Dial(ctx context.Context, n int64) (broker.Connection, error) {
	var failed error
	wires := &address.Wires{Dialer: broker.Dial(func(_ context.Context, network, at string) (socket net.Conn, err error) {
		socket, failed = (&net.Dialer{}).DialContext(ctx, network, at)
		return socket, failed
	})}
	keep := context.AfterFunc(ctx, wires.Cut)
	c, err := nats.Connect(s.from(int(n%int64(len(s.servers)))), append(s.options().Options,
		nats.Name("mqbench-connection-"+strconv.FormatInt(n, 10)), nats.SetCustomDialer(wires), nats.DontRandomize(), nats.NoReconnect(),
		nats.Timeout(broker.Patience(ctx)), nats.WriteBufferSize(broker.SmallBuffer),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { s.Report("asynchronous error", err) }),
	)...)
	if errors.Is(err, nats.ErrNoServers) { // the library does not say why
		err = cmp.Or(failed, err)
	}
	if err != nil {
		return nil, fmt.Errorf("nats: connect: %w", address.Cause(err))
	}
	if !keep() {
		c.Close()
		return nil, ctx.Err()
	}
	return &connection{c, s, wires}, nil
}

// Greet needs no flush: the server handles a connection's commands in their order.
func (c *connection) Greet(_ context.Context, m *broker.Message, handle broker.Handler) error {
	_, err := c.Subscribe(m.Own(), func(m *nats.Msg) { handle(broker.Delivery{ReceivedNs: c.s.Now(), Payload: m.Data}) })
	return cmp.Or(err, c.Publish(m.Own(), m.Payload))
}

func (c *connection) Gone() bool { return !c.IsConnected() }

// Close flushes, and cuts the socket of a server that does not take it.
func (c *connection) Close() {
	late := time.AfterFunc(closeTimeout, c.wires.Cut)
	defer late.Stop()
	c.Conn.Close()
}
