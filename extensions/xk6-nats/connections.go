package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// Every option that affects the figures is set here and printed by Describe: the library's own defaults drop messages silently, or keep them for later.
const (
	connectTimeout    = 5 * time.Second
	reconnectWait     = 100 * time.Millisecond
	pingInterval      = 20 * time.Second
	maxPings          = 2
	writeBufferBytes  = 32 * 1024
	pendingBytesLimit = 1 << 30
	// flusherTimeout is the library's own. A shorter message timeout limits a write that the server does not take.
	flusherTimeout      = time.Minute
	leastFlusherTimeout = time.Second
	// closeTimeout is how long connections may take to close before their sockets are cut.
	closeTimeout = time.Second
	apiTimeout   = 10 * time.Second
	drainPoll    = 5 * time.Millisecond
	// headerBytes is the size of a header with an id: "NATS/1.0\r\nNats-Msg-Id: ...\r\n\r\n".
	headerBytes = 64
)

// connections are the common part of both modes: the connections to the server, and the library's counts for them.
type connections struct {
	*broker.Base
	own options
	// servers of a cluster, one URL each.
	servers []string
	// access has the credentials.
	access []nats.Option
	all    []*nats.Conn
	wires  *address.Wires

	// granted ends with the first error by which the server refuses a right.
	granted context.Context
	refuse  context.CancelCauseFunc

	mu sync.Mutex
	// subscriptions has ours, with how many messages the library has dropped of each.
	subscriptions map[*nats.Subscription]int64
}

func newConnections(o broker.Options) (*connections, error) {
	own, err := optionsOf(o)
	servers, ofURL := address.List(o.URL)
	access, ofAccess := own.access()
	c := &connections{
		Base: broker.NewBase("nats", o), own: own, servers: servers, access: access, subscriptions: map[*nats.Subscription]int64{},
	}
	c.wires = &address.Wires{Dialer: c.Dialer(connectTimeout, nil)}
	c.granted, c.refuse = context.WithCancelCause(context.Background())
	return c, cmp.Or(err, ofURL, ofAccess)
}

// open connects; lost is called for a connection that is lost.
func (c *connections) open(dialer nats.CustomDialer, lost func(connection int)) error {
	bytes := c.MessageBytes
	if c.own.Dedup {
		bytes += headerBytes + len(c.Run)
	}
	if c.own.Publish == publishAtomic {
		bytes += batchHeaderBytes
	}
	for i := range c.Connections {
		connection, err := c.connect(i, dialer, lost)
		if err != nil {
			return fmt.Errorf("nats: connect: %w", broker.Nth(i, c.Connections, err))
		}
		c.all = append(c.all, connection)
	}
	if limit := c.all[0].MaxPayload(); int64(bytes) > limit && c.LimitBytes == 0 {
		return fmt.Errorf("nats: messages of %d bytes are above the server's max_payload of %d", bytes, limit)
	}
	return nil
}

// watch counts the messages that the library drops from a subscription.
func (c *connections) watch(s *nats.Subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subscriptions[s] += 0 // listed from now on
}

func (c *connections) Dropped() (dropped int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s, known := range c.subscriptions {
		// A closed subscription no longer answers; messages it dropped before stay counted.
		if n, err := s.Dropped(); err == nil {
			known = max(known, int64(n))
			c.subscriptions[s] = known
		}
		dropped += known
	}
	return dropped
}

// Leave lets the library hand over what it has, and ends the connections when that is acknowledged.
func (c *connections) Leave(ctx context.Context) error {
	c.Quiet()
	for _, connection := range c.all {
		if err := connection.Drain(); err != nil {
			return fmt.Errorf("nats: leave: %w", err)
		}
	}
	return deadline.Until(ctx, drainPoll, func() bool {
		return !slices.ContainsFunc(c.all, func(one *nats.Conn) bool { return !one.IsClosed() })
	})
}

func (c *connections) Close() error {
	if !c.End() {
		return nil
	}
	c.Dropped()
	// A write that the server does not take holds a connection's lock; so does dialling a server that does not answer.
	late := time.AfterFunc(closeTimeout, c.wires.Cut)
	defer late.Stop()
	deadline.AtMost(closeTimeout+connectTimeout, deadline.Steps(c.all, (*nats.Conn).Close)...)
	return nil
}

// flush returns when the server has handled everything that was sent on the connection so far: it handles commands in order.
func (c *connections) flush(ctx context.Context, connection int) error {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	err := c.all[connection].FlushWithContext(ctx)
	// Subtle: this is set before the answer to the flush is read, while the library calls its error handler some time later.
	if last := c.all[connection].LastError(); errors.Is(last, nats.ErrPermissionViolation) {
		return last
	}
	return err
}

// groupName is a group's name on the server, the same for all clients of the run.
func (c *connections) groupName(group string) string {
	if group == "" || c.Run == "" {
		return group
	}
	return streamName(c.Named("-", group))
}

// describe is the part that both modes have in common.
func (c *connections) describe() broker.Description {
	of := c.options()
	of.Print(map[string]any{
		"connections": c.Connections, "batching": "none",
		"flush": fmt.Sprintf("by the library's flusher, at once; what comes meanwhile shares a write, up to %d bytes", writeBufferBytes),
	})
	d := broker.Description{Order: "per-producer", Library: "nats.go v" + nats.Version}
	if len(c.all) > 0 {
		of.Set("tls", c.all[0].TLSRequired())
		d.Server = "nats-server " + c.all[0].ConnectedServerVersion()
	}
	d.Settings = of.Printed
	return d
}

// --- internal ---

// options are the same for every connection.
func (c *connections) options() (of broker.Settings[nats.Option]) {
	writes := min(flusherTimeout, max(leastFlusherTimeout, cmp.Or(time.Duration(c.TimeoutNs), flusherTimeout)))
	of.Set("mode", c.own.Mode, nats.Timeout(connectTimeout))
	of.Set("", nil, c.access...)
	if c.own.Auth != "" {
		of.Set("auth", c.own.Auth)
	}
	of.Set("noEcho", false)
	of.Set("reconnectBufferBytes", "0 (a publish without connection fails)", nats.ReconnectBufSize(-1))
	of.Set("reconnectWait", reconnectWait, nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(0, 0))
	of.Set("maxReconnects", "unlimited", nats.MaxReconnects(-1))
	of.Set("pingInterval", pingInterval, nats.PingInterval(pingInterval))
	of.Set("maxPingsOutstanding", maxPings, nats.MaxPingsOutstanding(maxPings))
	of.Set("flusherTimeout", writes, nats.FlusherTimeout(writes))
	of.Set("writeBufferBytes", writeBufferBytes, nats.WriteBufferSize(writeBufferBytes))
	of.Set("compression", "none", nats.Compression(false))
	return of
}

// from is all servers, beginning with one of them.
func (c *connections) from(first int) string {
	return strings.Join(slices.Concat(c.servers[first:], c.servers[:first]), ",")
}

func (c *connections) connect(i int, dialer nats.CustomDialer, lost func(int)) (*nats.Conn, error) {
	first := i % len(c.servers)
	return nats.Connect(c.from(first), append(c.options().Options,
		nats.Name("mqbench-"+strconv.Itoa(i)), nats.SetCustomDialer(dialer),
		// Connection i starts with server i, which gives a cluster's nodes the same share in every run.
		nats.DontRandomize(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			c.Report("connection lost", address.Cause(err))
			lost(i)
		}),
		nats.ReconnectHandler(func(*nats.Conn) { c.Reconnected() }),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			if s != nil && errors.Is(err, nats.ErrSlowConsumer) {
				c.watch(s)
			}
			if errors.Is(err, nats.ErrPermissionViolation) {
				c.refuse(err)
			}
			c.Report("asynchronous error", err)
		}),
	)...)
}
