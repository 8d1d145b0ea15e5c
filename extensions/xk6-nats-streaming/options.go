package streaming

import (
	"cmp"
	_ "embed"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/stan.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

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
	timeout := s.timeout()
	of.Set("reconnectBufferBytes", "0 (a publish without connection fails)", nats.ReconnectBufSize(-1))
	of.Set("reconnectWait", reconnectWait, nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(0, 0))
	of.Set("maxReconnects", "unlimited", nats.MaxReconnects(-1))
	of.Set("pingInterval", pingInterval, nats.PingInterval(pingInterval))
	of.Set("maxPingsOutstanding", maxPings, nats.MaxPingsOutstanding(maxPings))
	of.Set("flusherTimeout", timeout, nats.FlusherTimeout(timeout))
	of.Set("writeBufferBytes", writeBufferBytes, nats.WriteBufferSize(writeBufferBytes))
	return of
}

// stanOptions are those of NATS Streaming above them.
func (s *session) stanOptions() (of broker.Settings[stan.Option]) {
	// maxPending also counts messages that were received before their acknowledgement: those have left flight.
	maxPending := noPending
	if s.InFlight > 0 {
		maxPending = max(leastPending, int(min(2*s.InFlight, noPending)))
	}
	of.Set("", nil, stan.ConnectWait(connectTimeout))
	of.Set("cluster", s.own.Cluster)
	of.Set("publishTimeout", s.timeout(), stan.PubAckWait(s.timeout()))
	of.Set("publishMaxPending", maxPending, stan.MaxPubAcksInflight(maxPending))
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
