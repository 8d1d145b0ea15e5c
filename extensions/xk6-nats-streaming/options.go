package streaming

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/stan.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// options are the driver's own, as runner/brokers/nats-streaming/options.ts writes them.
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
	// The server takes whole seconds.
	defaultAckWait  = 30 * time.Second
	defaultPrefetch = 1024
	// leastEnvelope is what the protocol adds to a payload at least; the topic comes to that.
	leastEnvelope = 92
)

var clusterName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (o *options) Check() error {
	switch {
	case !clusterName.MatchString(o.Cluster):
		return fmt.Errorf("driver options: cluster must be letters, digits, - and _, got %q", o.Cluster)
	case o.Prefetch < 0:
		return errors.New("driver options: prefetch cannot be negative")
	case o.AckWaitNs < 0 || time.Duration(o.AckWaitNs)%time.Second != 0:
		return errors.New("driver options: ackWait must be whole seconds, as the server counts it")
	}
	o.Prefetch = cmp.Or(o.Prefetch, defaultPrefetch)
	o.AckWaitNs = cmp.Or(o.AckWaitNs, int64(defaultAckWait))
	return nil
}

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

func (s *session) ackWait() time.Duration { return time.Duration(s.own.AckWaitNs) }

func (s *session) timeout() time.Duration { return cmp.Or(time.Duration(s.TimeoutNs), noTimeout) }

// maxPending also counts messages that were received before their acknowledgement: those have left flight.
func (s *session) maxPending() int {
	if s.InFlight == 0 {
		return noPending
	}
	return max(leastPending, int(min(2*s.InFlight, noPending)))
}
