package streaming

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/stan.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// link is NATS's connection, which reconnects by itself, and NATS Streaming's above it, which we replace when the server has forgotten it.
type link struct {
	broker.Link[*above]
	session *session
	number  int
	below   *nats.Conn
	// times that a connection was asked for.
	times int
}

// above ends as a context when it is lost.
type above struct {
	stan.Conn
	broker.Lifetime
}

var (
	errNotConnected = errors.New("nats-streaming: publish: not connected")
	errLost         = fmt.Errorf("nats-streaming: connection lost: %w", broker.ErrUnknown)
	errUnanswered   = fmt.Errorf("nats-streaming: publish: not acknowledged within the timeout: %w", broker.ErrUnknown)
)

func (s *session) connect(ctx context.Context, i int) (err error) {
	l := &link{session: s, number: i, Link: broker.Link[*above]{Wait: reconnectWait}}
	first := i % len(s.servers)
	l.below, err = nats.Connect(strings.Join(slices.Concat(s.servers[first:], s.servers[:first]), ","), slices.Concat(s.below.Options, []nats.Option{
		nats.Name(s.client + "-" + strconv.Itoa(i)),
		// Connection i starts with server i, which gives a cluster's nodes the same share in every run.
		nats.DontRandomize(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { s.Report("connection lost", address.Cause(err)) }),
		nats.ReconnectHandler(func(*nats.Conn) { s.Reconnected() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { s.Report("asynchronous error", err) }),
	})...)
	if err != nil {
		return err
	}
	s.links = append(s.links, l)
	return l.Open(ctx, s.Base, l.dial)
}

// Send publishes, and blocks while the allowed number of acknowledgements is outstanding. The library calls its handler unless it returns an error.
func (l *link) Send(m *broker.Message, done broker.Done) {
	on, is := l.Now()
	if !is || !l.below.IsConnected() {
		done(m, 0, errNotConnected)
		return
	}
	_, err := on.PublishAsync(m.Name, m.Payload, func(_ string, err error) {
		done.Settle(m, l.session.Now(), failure(err))
	})
	if err != nil {
		done(m, 0, failure(err))
	}
}

// --- internal ---

// dial makes the connection of NATS Streaming, under a name that is new to the server, with the subscriptions of the one before.
func (l *link) dial(context.Context) (*above, error) {
	if !l.below.IsConnected() {
		return nil, errNotConnected
	}
	s := l.session
	l.times++
	// All names have one length, because it counts towards the largest message (runner/brokers/nats-streaming/index.ts).
	name := fmt.Sprintf("%s-%03d-%02d", s.client, l.number, l.times)
	made := &above{Lifetime: broker.NewLifetime(context.Background())}
	var err error
	made.Conn, err = stan.Connect(s.own.Cluster, name, slices.Concat(s.above.Options, []stan.Option{stan.NatsConn(l.below),
		// The server no longer has the connection, or has been silent for long.
		stan.SetConnectionLostHandler(func(_ stan.Conn, err error) { made.End(err) })})...)
	if errors.Is(err, stan.ErrConnectReqTimeout) {
		return nil, fmt.Errorf("no NATS Streaming of the cluster %q answers there; is it another cluster (-cid), or a server without NATS Streaming?", s.own.Cluster)
	}
	if err != nil {
		return nil, err
	}
	for _, one := range s.consumers.All() {
		if one.link != l {
			continue
		}
		// A group that the server still has goes on where it was. One that it has forgotten has lost everything, and so has a subscription: its
		// sequences begin again, and the server takes one above its last as its end.
		options := []stan.SubscriptionOption{stan.DeliverAllAvailable()}
		if last := one.last.Load(); one.group == "" && last > 0 {
			options = append(options, stan.StartAtSequence(last+1))
		}
		if err := one.subscribe(made, true, options...); err != nil {
			_ = made.Close()
			return nil, err
		}
	}
	return made, nil
}

func (l *link) close() {
	if on, is := l.Now(); is {
		_ = on.Close() // nothing is left to answer
	}
	l.below.Close()
}

func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, stan.ErrTimeout):
		return errUnanswered
	case errors.Is(err, stan.ErrConnectionClosed):
		return errLost
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionClosed):
		return errNotConnected
	case errors.Is(err, nats.ErrMaxPayload):
		// The library checks the server's max_payload, and has no way to send more.
		return fmt.Errorf("nats-streaming: publish: %w", broker.RefusedHere("nats.go", err))
	}
	return fmt.Errorf("nats-streaming: publish: %w", address.Cause(err))
}
