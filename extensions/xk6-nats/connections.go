package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// Every option of the library that decides a number is set here, and printed by Describe: the library's own
// defaults drop messages silently (500 000 pending) or keep them for later (8 MB reconnect buffer).
const (
	connectTimeout    = 5 * time.Second
	reconnectWait     = 100 * time.Millisecond
	pingInterval      = 20 * time.Second
	maxPings          = 2
	writeBufferBytes  = 32 * 1024
	pendingBytesLimit = 1 << 30
	// flusherTimeout is the library's own; that of a message, where it is shorter, bounds a write that a server does not take.
	flusherTimeout      = time.Minute
	leastFlusherTimeout = time.Second
	// closeTimeout is how long connections may take to end, before their sockets are cut.
	closeTimeout = time.Second
)

// connections are what both modes share: the links to the server, and what the library says of them.
type connections struct {
	broker.Options
	broker.Part
	own options
	// servers of a cluster, one URL each.
	servers []string
	// access is what lets us in.
	access     []nats.Option
	all        []*nats.Conn
	wires      *wires
	closing    atomic.Bool
	reconnects atomic.Int64
	// lost and reconnected, if not nil, are told of a connection that is lost, and of one that was made anew.
	lost, reconnected func(connection int)
	// ended is closed with the session.
	ended chan struct{}

	mu sync.Mutex
	// subscriptions are those of ours, and those of the library that it has dropped messages of.
	subscriptions map[*nats.Subscription]int64
}

func newConnections(o broker.Options, own options) (*connections, error) {
	servers, err := address.List(o.URL)
	if err != nil {
		return nil, err
	}
	secret, err := own.secret()
	if err != nil {
		return nil, err
	}
	access := []nats.Option{secret}
	security, err := own.TLS.Config()
	if err != nil {
		return nil, err
	}
	if security != nil {
		access = append(access, nats.Secure(security))
	}
	return &connections{
		Options: o, own: own, servers: servers, access: access, subscriptions: map[*nats.Subscription]int64{},
		wires: &wires{dialer: net.Dialer{Timeout: connectTimeout}, open: map[*wire]struct{}{}}, ended: make(chan struct{}),
	}, nil
}

// open makes all connections. headerBytes is what messages carry beside their payload.
func (c *connections) open(headerBytes int) error {
	for i := range c.Connections {
		connection, err := c.connect(i)
		if err != nil {
			return fmt.Errorf("nats: connect: %w", err)
		}
		c.all = append(c.all, connection)
	}
	if limit := c.all[0].MaxPayload(); int64(c.MessageBytes+headerBytes) > limit {
		return fmt.Errorf("nats: messages of %d bytes are above the server's max_payload of %d", c.MessageBytes+headerBytes, limit)
	}
	return nil
}

// watch has what the library drops of a subscription counted.
func (c *connections) watch(s *nats.Subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.subscriptions[s]; !known {
		c.subscriptions[s] = 0
	}
}

func (c *connections) Dropped() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var dropped int64
	for s, known := range c.subscriptions {
		// A closed subscription does not tell any more; what was dropped stays dropped.
		if n, err := s.Dropped(); err == nil {
			known = max(known, int64(n))
			c.subscriptions[s] = known
		}
		dropped += known
	}
	return dropped
}

func (c *connections) Reconnects() int64 { return c.reconnects.Load() }

func (c *connections) Close() error {
	if c.closing.Swap(true) {
		return nil
	}
	close(c.ended)
	c.Dropped()
	var all []func()
	for _, one := range c.all {
		all = append(all, one.Close)
	}
	// A write that the server does not take holds a connection's lock; so does dialling one that does not answer.
	late := time.AfterFunc(closeTimeout, c.wires.cut)
	defer late.Stop()
	deadline.AtMost(closeTimeout+connectTimeout, all...)
	return nil
}

// flush returns when the server has handled what was sent on the connection so far: it handles commands in order.
func (c *connections) flush(ctx context.Context, connection int) error {
	return c.all[connection].FlushWithContext(ctx)
}

// groupName is what a group is called on the server, the same for all clients of the run; others have groups on subjects of the
// user's own as well.
func (c *connections) groupName(group string) string {
	if group == "" || c.Run == "" {
		return group
	}
	return streamName(c.Run + "-" + group)
}

func (c *connections) library() string { return "nats.go v" + nats.Version }

func (c *connections) server() string { return "nats-server " + c.all[0].ConnectedServerVersion() }

func (c *connections) settings() map[string]string {
	all := map[string]string{
		"mode":                 c.own.Mode,
		"connections":          strconv.Itoa(c.Connections),
		"noEcho":               "false",
		"reconnectBufferBytes": "0 (a publish without connection fails)",
		"reconnectWait":        reconnectWait.String(),
		"maxReconnects":        "unlimited",
		"pingInterval":         pingInterval.String(),
		"maxPingsOutstanding":  strconv.Itoa(maxPings),
		"flusherTimeout":       c.flusherTimeout().String(),
		"writeBufferBytes":     strconv.Itoa(writeBufferBytes),
		"compression":          "false",
		"tls":                  strconv.FormatBool(c.all[0].TLSRequired()),
	}
	if c.own.Auth != "" {
		all["auth"] = c.own.Auth
	}
	return all
}

// --- internal ---

func (c *connections) flusherTimeout() time.Duration {
	if c.TimeoutNs == 0 {
		return flusherTimeout
	}
	return min(flusherTimeout, max(leastFlusherTimeout, time.Duration(c.TimeoutNs)))
}

func (c *connections) connect(i int) (*nats.Conn, error) {
	return nats.Connect(strings.Join(slices.Concat(c.servers[i%len(c.servers):], c.servers[:i%len(c.servers)]), ","), append([]nats.Option{
		nats.Name("mqbench-" + strconv.Itoa(i)),
		nats.Timeout(connectTimeout),
		// Connection i begins at server i: a cluster's nodes get the same share in every run.
		nats.DontRandomize(),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(0, 0),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(maxPings),
		nats.FlusherTimeout(c.flusherTimeout()),
		nats.SetCustomDialer(c.wires),
		nats.WriteBufferSize(writeBufferBytes),
		nats.Compression(false),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			c.report("connection lost", address.Cause(err))
			if c.lost != nil {
				c.lost(i)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			c.reconnects.Add(1)
			if c.reconnected != nil {
				c.reconnected(i)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			if s != nil && errors.Is(err, nats.ErrSlowConsumer) {
				c.watch(s)
			}
			c.report("asynchronous error", err)
		}),
	}, c.access...)...)
}

func (c *connections) report(what string, err error) {
	if !c.closing.Load() {
		c.Report("nats", broker.Wrap(what, err))
	}
}
