package kafka

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mqbench/mqbench/extensions/xk6-kafka/franz"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Every option of the library that affects the figures is set in this file and printed by Describe. The library's own defaults: linger 10 ms, snappy,
// endless retries, 1 000 012-byte batches, 5 s between looks at the cluster, one request in flight without idempotence.
const (
	dialTimeout       = 5 * time.Second
	metadataMinAge    = 100 * time.Millisecond
	retryBackoffFirst = 100 * time.Millisecond
	retryBackoffMost  = time.Second
	leastRequestTime  = 5 * time.Second
	// bufferedRecords is how many unacknowledged messages a client holds at most without inFlight, bufferedBytes their size. Then Send blocks.
	bufferedRecords = 1_000_000
	bufferedBytes   = 1 << 30
	// inFlightSlack: the library removes a message from its count only after our done has released the next one.
	inFlightSlack = 1000
	// requestsInFlight per broker, like Kafka's max.in.flight.requests.per.connection. With idempotence the library uses the same number.
	requestsInFlight = 5
	fetchBytes       = 50 << 20
	pollRecords      = 500
	// maxBrokers is more than a cluster has.
	maxBrokers   = 1000
	leaveTimeout = time.Second
)

// byBroker is the group protocol of KIP-848.
const byBroker = "consumer"

var balancers = map[string]kgo.GroupBalancer{
	"range": kgo.RangeBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer(),
}

// settings of a client: options for the library, and the same as text.
type settings = broker.Settings[kgo.Opt]

// set sets an option of the library to the value that is printed.
func set[V any, O kgo.Opt](to *settings, name string, value V, option func(V) O) {
	to.Set(name, value, option(value))
}

// connect makes a client, with separate connections and everything that `sets` and common set.
func (s *session) connect(id string, sets ...func(to *settings)) (*client, error) {
	c := &client{s: s, lost: map[int32]int{}}
	of := settings{Options: []kgo.Opt{kgo.ClientID("mqbench-" + id), kgo.WithHooks(c)}}
	for _, apply := range append(sets, s.common) {
		apply(&of)
	}
	var err error
	c.Client, err = kgo.NewClient(of.Options...)
	return c, broker.Wrap("kafka: make a client", err)
}

func (s *session) common(to *settings) {
	request := s.requestTimeout()
	to.Set("dialTimeout", dialTimeout)
	to.Set("requestTimeout", request, kgo.RequestTimeoutOverhead(request), kgo.RetryTimeout(2*request))
	set(to, "connectionIdle", 9*time.Minute, kgo.ConnIdleTimeout) // as Kafka's connections.max.idle.ms on clients
	set(to, "metadataMaxAge", 5*time.Minute, kgo.MetadataMaxAge)
	set(to, "metadataMinAge", metadataMinAge, kgo.MetadataMinAge)
	to.Set("retryBackoff", fmt.Sprintf("%s, doubled up to %s", retryBackoffFirst, retryBackoffMost), kgo.RetryBackoffFn(retryBackoff))
	set(to, "requestRetries", 20, kgo.RequestRetries)
	// Both are above the server's limit (socket.request.max.bytes), because the server must be the one to refuse.
	set(to, "requestBytesMax", 100<<20, kgo.BrokerMaxWriteBytes)
	set(to, "responseBytesMax", 256<<20, kgo.BrokerMaxReadBytes)
	to.Set("clientMetricsPush", false, kgo.DisableClientMetrics())
	to.Set("tls", false, kgo.SeedBrokers(s.at.Hosts...))
	to.Set("", nil, kgo.Dialer(s.Dialer(dialTimeout, s.tls)))
	if s.tls != nil {
		to.Set("tls", map[bool]string{false: "true", true: "true (any certificate is trusted)"}[s.own.TLS.Insecure])
	}
	to.Set("sasl", "none")
	if s.login != nil {
		to.Set("sasl", s.own.Sasl, kgo.SASL(s.login))
	}
}

func (s *session) producing(to *settings) {
	o := s.own
	records, bytes := int64(bufferedRecords), max(bufferedBytes, 2*s.MessageBytes)
	if s.InFlight > 0 {
		records = s.InFlight + inFlightSlack
	}
	to.Set("acks", o.Acks, kgo.RequiredAcks(franz.Acks[o.Acks]))
	set(to, "linger", time.Duration(o.LingerNs), kgo.ProducerLinger)
	set(to, "batchBytes", int32(o.BatchBytes), kgo.ProducerBatchMaxBytes)
	to.Set("compression", o.Compression, kgo.ProducerBatchCompression(franz.Codecs[o.Compression]))
	set(to, "bufferedRecords", int(records), kgo.MaxBufferedRecords)
	set(to, "bufferedBytes", bytes, kgo.MaxBufferedBytes)
	byKey := kgo.StickyKeyPartitioner(nil)
	how, own := "the message's partition; without one murmur2 of its key", kgo.BasicConsistentPartitioner(func(topic string) func(*kgo.Record, int) int {
		return byKey.ForTopic(topic).Partition
	})
	if o.Partitioner == sticky {
		how, own = "murmur2 of the key; without one sticky: until a batch is full or sent", byKey
	}
	to.Set("partitioner", how, kgo.RecordPartitioner(franz.Partitioner{Partitioner: own}))
	set(to, "produceTimeout", s.requestTimeout(), kgo.ProduceRequestTimeout)
	set(to, "recordTimeout", s.timeout(), kgo.RecordDeliveryTimeout)
	set(to, "unknownTopicRetries", 4, kgo.UnknownTopicRetries)
	to.Set("requestsInFlight", requestsInFlight)
	to.Set("connectionsToBrokers", "one to each for sending, one to each for the rest")
	to.Set("idempotence", *o.Idempotence)
	switch {
	case s.transacts():
		to.Set("recordRetries", "until the transaction is given up after recordTimeout")
		set(to, "transactionTimeout", time.Duration(o.TransactionNs)+transactionTimeout, kgo.TransactionTimeout)
	case *o.Idempotence:
		// Subtle: without this option the library never gives up a message that may have arrived. We never send such a message again, so the
		// duplicates that the library warns of cannot happen.
		to.Set("recordRetries", "until recordTimeout", kgo.AllowIdempotentProduceCancellation())
	default:
		// A second try could make a second copy and overtake other messages, so there is none.
		to.Set("recordRetries", 0, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(requestsInFlight), kgo.RecordRetries(0))
	}
}

func (s *session) consuming(to *settings) {
	o := s.own
	set(to, "fetchMinBytes", int32(o.FetchMinBytes), kgo.FetchMinBytes)
	set(to, "fetchMaxWait", time.Duration(o.FetchMaxWaitNs), kgo.FetchMaxWait)
	set(to, "fetchMaxBytes", int32(max(fetchBytes, o.FetchPartitionBytes)), kgo.FetchMaxBytes)
	set(to, "fetchPartitionBytes", int32(o.FetchPartitionBytes), kgo.FetchMaxPartitionBytes)
	to.Set("concurrentFetches", "one per broker", kgo.MaxConcurrentFetches(-1))
	to.Set("isolation", s.isolation(), kgo.FetchIsolationLevel(isolations[s.isolation()]))
	to.Set("resetOffset", "end", kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()))
}

func (s *session) grouping(to *settings, group string) {
	o := s.own
	if s.competes() {
		s.competing(to, group)
		return
	}
	to.Set("groupProtocol", o.GroupProtocol, kgo.ConsumerGroup(group))
	to.Set("assignor", o.Assignor, kgo.Balancers(balancers[o.Assignor]))
	set(to, "sessionTimeout", s.sessionTimeout(), kgo.SessionTimeout)
	set(to, "rebalanceTimeout", time.Minute, kgo.RebalanceTimeout)
	set(to, "heartbeatInterval", 500*time.Millisecond, kgo.HeartbeatInterval)
	if o.GroupProtocol == byBroker {
		to.Set("sessionTimeout", "the broker's", kgo.ServerSideBalancer())
		to.Set("heartbeatInterval", "the broker's")
	}
	// The group is as new as its topic, so everything that is sent belongs to it; or begin has set where it starts.
	to.Set("resetOffset", "start", kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	to.Set("commitInterval", time.Duration(o.CommitIntervalNs), kgo.AutoCommitMarks(), kgo.AutoCommitInterval(time.Duration(o.CommitIntervalNs)))
	to.Set("pollRecords", pollRecords)
}

func (s *session) sessionTimeout() time.Duration { return time.Duration(s.own.SessionTimeoutNs) }

// timeout of a message, at least the library's own minimum.
func (s *session) timeout() time.Duration {
	if s.TimeoutNs == 0 {
		return defaultTimeout
	}
	return max(time.Second, time.Duration(s.TimeoutNs))
}

// requestTimeout is half of a message's timeout: the broker may take the first half to answer, and the second one gives up the connection.
func (s *session) requestTimeout() time.Duration { return max(leastRequestTime, s.timeout()/2) }

func retryBackoff(fails int) time.Duration {
	return min(retryBackoffFirst<<min(max(fails-1, 0), 10), retryBackoffMost)
}

// client counts its connections and reports those that were lost.
type client struct {
	*kgo.Client
	s *session
	// settled: the client is set up. Before that, connections come and go while it finds the cluster and its group.
	settled atomic.Bool
	closing atomic.Bool
	// producedNs is when the last request with records was written.
	producedNs atomic.Int64
	fetches    atomic.Int64

	mu sync.Mutex
	// lost connections to each node that are not replaced yet.
	lost map[int32]int
}

var (
	_ kgo.HookBrokerConnect    = (*client)(nil)
	_ kgo.HookBrokerDisconnect = (*client)(nil)
	_ kgo.HookBrokerWrite      = (*client)(nil)
	_ kgo.HookGroupManageError = (*client)(nil)
	_ kgo.HookBrokerThrottle   = (*client)(nil)
)

func (c *client) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		c.report(fmt.Errorf("connect: %w", err))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost[meta.NodeID] > 0 {
		c.lost[meta.NodeID]--
		c.s.Reconnected()
	}
}

func (c *client) OnBrokerDisconnect(meta kgo.BrokerMetadata, _ net.Conn) {
	if !c.settled.Load() || c.closing.Load() || c.s.IsQuiet() {
		return
	}
	c.report(fmt.Errorf("connection to broker %d lost", meta.NodeID))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost[meta.NodeID]++
}

// OnBrokerThrottle notes a quota: the library sends the broker nothing more for that long. Making topics is not part of the load.
func (c *client) OnBrokerThrottle(_ kgo.BrokerMetadata, interval time.Duration, _ bool) {
	if c.settled.Load() && c != c.s.asks {
		time.AfterFunc(interval, c.s.Hold())
	}
}

// Keys of requests in Kafka's protocol.
const (
	produceKey    = 0
	fetchKey      = 1
	shareFetchKey = 78
)

func (c *client) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, bytes int, _, _ time.Duration, err error) {
	switch {
	case (key == fetchKey || key == shareFetchKey) && err == nil:
		c.fetches.Add(1)
	case key == produceKey && bytes > 0:
		// Some bytes of a failed write may have left, too.
		c.producedNs.Store(c.s.Now())
	}
}

func (c *client) OnGroupManageError(err error) { c.report(fmt.Errorf("group: %w", err)) }

func (c *client) report(err error) {
	if !c.closing.Load() {
		c.s.Report("", err)
	}
}
