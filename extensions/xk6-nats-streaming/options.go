package streaming

import (
	"cmp"
	"crypto/tls"
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

// options are the driver's own, as runner/brokers/nats-streaming/index.ts describes and writes them.
type options struct {
	Cluster   string      `json:"cluster"`
	TLS       address.TLS `json:"tls"`
	Prefetch  int         `json:"prefetch"`
	AckWaitNs int64       `json:"ackWaitNs"`
}

// All other settings are set here, and printed by Describe.
const (
	closeTimeout   = time.Second
	connectTimeout = 5 * time.Second
	reconnectWait  = 100 * time.Millisecond
	pingInterval   = 20 * time.Second
	maxPings       = 2
	// Only NATS Streaming's own pings, in seconds, show a client that the server has forgotten it.
	streamingPingSeconds = 1
	streamingMaxPings    = 88
	writeBufferBytes     = 32 * 1024
	// leastPending is the library's own limit of outstanding acknowledgements; noPending means no limit.
	leastPending = 16384
	noPending    = 1 << 30
	noTimeout    = time.Hour
	// leastEnvelope is the protocol's minimum addition to a payload; the topic comes to that.
	leastEnvelope = 92
)

// settings are the libraries' options: the connections below, NATS Streaming above them, and each subscription. All are printed together.
type settings struct {
	below        broker.Settings[nats.Option]
	above        broker.Settings[stan.Option]
	subscription broker.Settings[stan.SubscriptionOption]
}

func (s *session) set(own options, security *tls.Config) {
	timeout, ackWait := cmp.Or(time.Duration(s.TimeoutNs), noTimeout), time.Duration(own.AckWaitNs)
	// Those that were received before their acknowledgement have left flight, and count here.
	maxPending := noPending
	if s.InFlight > 0 {
		maxPending = max(leastPending, int(min(2*s.InFlight, noPending)))
	}
	if security != nil {
		s.below.Set("", nil, nats.Secure(security))
	}
	s.below.Set("tls", security != nil)
	s.below.Set("compression", "none", nats.Compression(false), nats.Timeout(connectTimeout), nats.SetCustomDialer(s.wires))
	s.below.Set("reconnectBufferBytes", "0 (a publish without connection fails)", nats.ReconnectBufSize(-1))
	s.below.Set("reconnectWait", reconnectWait, nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(0, 0))
	s.below.Set("maxReconnects", "unlimited", nats.MaxReconnects(-1))
	s.below.Set("pingInterval", pingInterval, nats.PingInterval(pingInterval))
	s.below.Set("maxPingsOutstanding", maxPings, nats.MaxPingsOutstanding(maxPings))
	s.below.Set("flusherTimeout", timeout, nats.FlusherTimeout(timeout))
	s.below.Set("writeBufferBytes", writeBufferBytes, nats.WriteBufferSize(writeBufferBytes))
	s.above.Printed, s.subscription.Printed = s.below.Printed, s.below.Printed
	s.above.Set("cluster", own.Cluster, stan.ConnectWait(connectTimeout))
	s.above.Set("publishTimeout", timeout, stan.PubAckWait(timeout))
	s.above.Set("publishMaxPending", maxPending, stan.MaxPubAcksInflight(maxPending))
	s.above.Set("streamingPings", fmt.Sprintf("every %d s, at most %d without an answer", streamingPingSeconds, streamingMaxPings),
		stan.Pings(streamingPingSeconds, streamingMaxPings))
	s.subscription.Set("maxInflight", own.Prefetch, stan.MaxInflight(own.Prefetch))
	s.subscription.Set("ackWait", ackWait, stan.AckWait(ackWait))
}
