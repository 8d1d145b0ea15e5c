package streaming

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/stan.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// link is one connection: NATS's, which reconnects by itself, and NATS Streaming's above it, which the server forgets when it loses its
// memory; then we make another one.
type link struct {
	session *session
	number  int
	below   *nats.Conn

	mu    sync.Mutex
	above stan.Conn
	// times that it was made.
	times int
}

var (
	errNotConnected = errors.New("nats-streaming: publish: not connected")
	errLost         = fmt.Errorf("nats-streaming: connection lost: %w", broker.ErrUnknown)
	errUnanswered   = fmt.Errorf("nats-streaming: publish: not acknowledged within the timeout: %w", broker.ErrUnknown)
)

func (s *session) connect(i int) (*link, error) {
	l := &link{session: s, number: i}
	first := i % len(s.servers)
	var err error
	l.below, err = nats.Connect(strings.Join(slices.Concat(s.servers[first:], s.servers[:first]), ","), append(s.natsOptions().Options,
		nats.Name(s.client+"-"+strconv.Itoa(i)),
		// Connection i starts with server i, so that a cluster's nodes get the same share in every run.
		nats.DontRandomize(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { s.Report("connection lost", address.Cause(err)) }),
		nats.ReconnectHandler(func(*nats.Conn) { s.Reconnected() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { s.Report("asynchronous error", err) }),
	)...)
	if err == nil {
		err = l.register()
	}
	if err != nil && l.below != nil {
		l.below.Close()
	}
	return l, err
}

// Send publishes, and blocks while the allowed number of acknowledgements is outstanding. The library calls its handler once, or not at all
// if it returns an error.
func (l *link) Send(m *broker.Message, done broker.Done) {
	if !l.below.IsConnected() {
		done(m, 0, errNotConnected)
		return
	}
	_, err := l.current().PublishAsync(m.Name, m.Payload, func(_ string, err error) {
		done.Settle(m, l.session.Now(), failure(err))
	})
	if err != nil {
		done(m, 0, failure(err))
	}
}

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/nats-streaming/index.ts writes them.
type options struct {
	// Cluster is the name that the server was started with (-cid).
	Cluster string      `json:"cluster"`
	TLS     address.TLS `json:"tls"`
	// Prefetch is how many messages a subscription holds and has not acknowledged: the library's MaxInflight.
	Prefetch int `json:"prefetch"`
	// AckWaitNs is how long the server waits for the acknowledgement of a consumer.
	AckWaitNs int64 `json:"ackWaitNs"`
}

// What is not an option is set here, all of it, and printed by Describe.
const (
	connectTimeout = 5 * time.Second
	reconnectWait  = 100 * time.Millisecond
	pingInterval   = 20 * time.Second
	maxPings       = 2
	// NATS Streaming has pings of its own, in seconds: only by them a client hears that the server has forgotten it. A server that is silent
	// for long is left to the connection below.
	streamingPingSeconds = 1
	streamingMaxPings    = 88
	writeBufferBytes     = 32 * 1024
	// leastPending is the library's own limit of outstanding acknowledgements; noPending means no limit.
	leastPending = 16384
	noPending    = 1 << 30
	noTimeout    = time.Hour
	// leastEnvelope is what the protocol adds to a payload at least; the topic comes to that.
	leastEnvelope = 92
)

// natsOptions are those of the connections below.
func (s *session) natsOptions() (of broker.Settings[nats.Option]) {
	of.Set("", nil, nats.Timeout(connectTimeout), nats.SetCustomDialer(s.wires), nats.Compression(false))
	if s.security != nil {
		of.Set("", nil, nats.Secure(s.security))
	}
	of.Set("reconnectBufferBytes", "0 (a publish without connection fails)", nats.ReconnectBufSize(-1))
	of.Set("reconnectWait", reconnectWait, nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(0, 0))
	of.Set("maxReconnects", "unlimited", nats.MaxReconnects(-1))
	of.Set("pingInterval", pingInterval, nats.PingInterval(pingInterval))
	of.Set("maxPingsOutstanding", maxPings, nats.MaxPingsOutstanding(maxPings))
	of.Set("flusherTimeout", s.timeout(), nats.FlusherTimeout(s.timeout()))
	of.Set("writeBufferBytes", writeBufferBytes, nats.WriteBufferSize(writeBufferBytes))
	return of
}

// stanOptions are those of NATS Streaming above them.
func (s *session) stanOptions() (of broker.Settings[stan.Option]) {
	of.Set("", nil, stan.ConnectWait(connectTimeout))
	of.Set("cluster", s.own.Cluster)
	of.Set("publishTimeout", s.timeout(), stan.PubAckWait(s.timeout()))
	of.Set("publishMaxPending", s.maxPending(), stan.MaxPubAcksInflight(s.maxPending()))
	of.Set("streamingPings", fmt.Sprintf("every %d s, at most %d without an answer", streamingPingSeconds, streamingMaxPings),
		stan.Pings(streamingPingSeconds, streamingMaxPings))
	return of
}

// subscriptionOptions are those of every subscription.
func (s *session) subscriptionOptions() (of broker.Settings[stan.SubscriptionOption]) {
	of.Set("maxInflight", s.own.Prefetch, stan.MaxInflight(s.own.Prefetch))
	of.Set("ackWait", s.ackWait(), stan.AckWait(s.ackWait()))
	return of
}

// --- internal ---

func (l *link) current() stan.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.above
}

// register makes the connection of NATS Streaming, under a name that the server does not know yet.
func (l *link) register() error {
	l.mu.Lock()
	l.times++
	// Of one length, as it counts towards the largest message (runner/brokers/nats-streaming/index.ts).
	name := fmt.Sprintf("%s-%03d-%02d", l.session.client, l.number, l.times)
	l.mu.Unlock()
	made, err := stan.Connect(l.session.own.Cluster, name, append(l.session.stanOptions().Options,
		stan.NatsConn(l.below), stan.SetConnectionLostHandler(func(_ stan.Conn, err error) { l.forgotten(err) }))...)
	if errors.Is(err, stan.ErrConnectReqTimeout) {
		return fmt.Errorf("no NATS Streaming of the cluster %q answers there; is it another cluster (-cid), or a server without NATS Streaming?",
			l.session.own.Cluster)
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.above = made
	l.mu.Unlock()
	return nil
}

// forgotten: the server says that it does not know the connection, or nothing at all for long. Both are over for the library.
func (l *link) forgotten(err error) {
	s := l.session
	s.Report("connection lost", err)
	err = deadline.Retry(s.Over, 0, reconnectWait, func() error {
		if !l.below.IsConnected() {
			return errNotConnected
		}
		return l.register()
	})
	if err != nil || s.IsQuiet() {
		return
	}
	s.Reconnected()
	for _, one := range s.subscriptions.All() {
		if one.link != l {
			continue
		}
		// A group that the server still knows goes on where it was. One that it has forgotten has lost everything with it, and so has a
		// subscription: its sequences begin anew, and the server takes one above its last as its end.
		options := append(s.subscriptionOptions().Options, stan.DeliverAllAvailable())
		if last := one.last.Load(); one.group == "" && last > 0 {
			options = append(options, stan.StartAtSequence(last+1))
		}
		s.Report("subscribe again", one.subscribe(options...))
	}
}

func (l *link) close() {
	if above := l.current(); above != nil {
		_ = above.Close() // nobody is left to answer
	}
	l.below.Close()
}

// failure rewords the library's error of a publish.
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
		// It knows the server's max_payload, and has no way to send more.
		return fmt.Errorf("nats-streaming: publish: %w", broker.RefusedHere("nats.go", err))
	default:
		return fmt.Errorf("nats-streaming: publish: %w", address.Cause(err))
	}
}

func (s *session) ackWait() time.Duration { return time.Duration(s.own.AckWaitNs) }

func (s *session) timeout() time.Duration { return cmp.Or(time.Duration(s.TimeoutNs), noTimeout) }

// maxPending also counts messages that were received before their acknowledgement: those have left flight.
func (s *session) maxPending() int {
	if s.InFlight == 0 {
		return noPending
	}
	return max(leastPending, int(min(2*s.InFlight, noPending)))
}
