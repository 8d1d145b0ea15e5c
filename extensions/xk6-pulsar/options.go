package pulsar

import (
	_ "embed"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/pulsar/index.ts describes and writes them.
type options struct {
	TLS          address.TLS `json:"tls"`
	Subscription string      `json:"subscription" known:"exclusive failover shared key_shared"`
	// LingerNs is how long a batch waits for more messages; 0 means that there are no batches.
	LingerNs    int64  `json:"lingerNs"`
	Batch       uint   `json:"batch"`
	Compression string `json:"compression" known:"none lz4 zlib zstd snappy"`
	Prefetch    int    `json:"prefetch"`
	Acknowledge string `json:"acknowledge" known:"message interval"`
	Cumulative  bool   `json:"cumulative"`
}

var (
	types = map[string]pulsar.SubscriptionType{
		"exclusive": pulsar.Exclusive, "failover": pulsar.Failover, "shared": pulsar.Shared, "key_shared": pulsar.KeyShared,
	}
	codecs = map[string]pulsar.CompressionType{
		"none": pulsar.NoCompression, "lz4": pulsar.LZ4, "zlib": pulsar.ZLib, "zstd": pulsar.ZSTD, "snappy": pulsar.SNAPPY,
	}
)

// All other settings are set here, and printed by Describe.
const (
	dialTimeout      = 5 * time.Second
	operationTimeout = 10 * time.Second
	// A server that is silent for two keepAlives is given up.
	keepAlive     = 15 * time.Second
	reconnectWait = 100 * time.Millisecond
	adminTimeout  = 30 * time.Second
	closeTimeout  = 3 * time.Second
	discovery     = time.Hour
	// leastPending and mostPending are how many messages the producers of a connection hold that are not acknowledged, without inFlight. Then
	// Send blocks. The library allocates the room for each partition.
	leastPending, mostPending = 1000, 100_000
	maxBatchBytes             = 128 * 1024
	// ackGroup is how many acknowledgements share a request at most, as in the library.
	ackGroup = 1000
)

// never is for MaxReconnectToBroker: the library would send messages again that may have arrived. We replace the whole client.
var never uint

func (s *session) clientOptions() pulsar.ClientOptions {
	o := pulsar.ClientOptions{
		URL: s.service, TLSConfig: s.security, ConnectionTimeout: dialTimeout, OperationTimeout: operationTimeout, KeepAliveInterval: keepAlive,
		ConnectionMaxIdleTime: -1, MaxConnectionsPerBroker: 1, MemoryLimitBytes: -1, Logger: log.DefaultNopLogger(),
		MetricsCardinality: pulsar.MetricsCardinalityNone, MetricsRegisterer: prometheus.NewRegistry(), Description: "mqbench",
	}
	if s.at.Password != "" {
		o.Authentication = pulsar.NewAuthenticationToken(s.at.Password)
	}
	return o
}

func (s *session) producerOptions(w *wire, topic string) pulsar.ProducerOptions {
	o := pulsar.ProducerOptions{
		Topic: topic, SendTimeout: -1, MaxPendingMessages: s.pending(), CompressionType: codecs[s.own.Compression], DisableBatching: s.own.LingerNs == 0,
		BatchingMaxPublishDelay: time.Duration(s.own.LingerNs), BatchingMaxMessages: s.own.Batch, BatchingMaxSize: uint(max(maxBatchBytes, s.MessageBytes)),
		MessageRouter: w.route, MaxReconnectToBroker: &never, BackOffPolicyFunc: w.lost, PartitionsAutoDiscoveryInterval: discovery,
	}
	if s.TimeoutNs > 0 {
		o.SendTimeout = time.Duration(s.TimeoutNs)
	}
	if s.own.Subscription == "key_shared" { // a batch goes to one member, by its first key
		o.BatcherBuilderType = pulsar.KeyBasedBatchBuilder
	}
	return o
}

func (s *session) pending() int {
	if s.InFlight > 0 {
		return max(leastPending, int(s.InFlight))
	}
	partitions := 1
	for _, t := range s.layout.Topics {
		partitions += t.Partitions
	}
	return max(leastPending, mostPending/partitions)
}

func (s *session) consumerOptions(w *wire, c *consumer) pulsar.ConsumerOptions {
	o := pulsar.ConsumerOptions{
		Topic: c.Topic, SubscriptionName: s.Named("-", c.Group), Type: types[s.own.Subscription], ReceiverQueueSize: s.own.Prefetch,
		// Its own channel has room for ten more.
		MessageChannel: make(chan pulsar.ConsumerMessage), MaxReconnectToBroker: &never, BackOffPolicyFunc: w.lost, AutoDiscoveryPeriod: discovery,
		AckGroupingOptions: &pulsar.AckGroupingOptions{MaxSize: 1},
	}
	if s.Run == "" { // the topic is as new as the subscription
		o.SubscriptionInitialPosition = pulsar.SubscriptionPositionEarliest
	}
	if s.own.Acknowledge == broker.PerInterval {
		o.AckGroupingOptions = &pulsar.AckGroupingOptions{MaxSize: ackGroup, MaxTime: broker.AcknowledgeInterval}
	}
	return o
}
