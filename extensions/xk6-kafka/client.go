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
	connIdle          = 9 * time.Minute // as Kafka's connections.max.idle.ms on clients
	metadataMaxAge    = 5 * time.Minute
	metadataMinAge    = 100 * time.Millisecond
	retryBackoffFirst = 100 * time.Millisecond
	retryBackoffMost  = time.Second
	requestRetries    = 20
	leastRequestTime  = 5 * time.Second
	// bufferedRecords is how many unacknowledged messages a client holds at most without inFlight, bufferedBytes their size. Then Send blocks.
	bufferedRecords = 1_000_000
	bufferedBytes   = 1 << 30
	// inFlightSlack: the library removes a message from its count only after our done has released the next one.
	inFlightSlack = 1000
	// requestsInFlight per broker, like Kafka's max.in.flight.requests.per.connection. With idempotence the library uses the same number.
	requestsInFlight = 5
	// requestBytes and responseBytes are above the server's limit (socket.request.max.bytes), because the server must be the one to refuse.
	requestBytes  = 100 << 20
	responseBytes = 256 << 20
	fetchBytes    = 50 << 20

	rebalanceTimeout  = time.Minute
	heartbeatInterval = 500 * time.Millisecond
	pollRecords       = 500
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

// client makes one, with separate connections and everything that `sets` set.
func (s *session) client(id string, sets ...func(to *settings)) (*kgo.Client, *watch, error) {
	w := &watch{s: s, lost: map[int32]int{}}
	of := settings{Options: []kgo.Opt{kgo.ClientID("mqbench-" + id), kgo.WithHooks(w)}}
	for _, set := range append(sets, s.common) {
		set(&of)
	}
	client, err := kgo.NewClient(of.Options...)
	return client, w, broker.Wrap("kafka: make a client", err)
}

func (s *session) common(to *settings) {
	request := s.requestTimeout()
	to.Set("dialTimeout", dialTimeout)
	to.Set("requestTimeout", request, kgo.RequestTimeoutOverhead(request), kgo.RetryTimeout(2*request))
	to.Set("connectionIdle", connIdle, kgo.ConnIdleTimeout(connIdle))
	to.Set("metadataMaxAge", metadataMaxAge, kgo.MetadataMaxAge(metadataMaxAge))
	to.Set("metadataMinAge", metadataMinAge, kgo.MetadataMinAge(metadataMinAge))
	to.Set("retryBackoff", fmt.Sprintf("%s, doubled up to %s", retryBackoffFirst, retryBackoffMost), kgo.RetryBackoffFn(retryBackoff))
	to.Set("requestRetries", requestRetries, kgo.RequestRetries(requestRetries))
	to.Set("requestBytesMax", requestBytes, kgo.BrokerMaxWriteBytes(requestBytes))
	to.Set("responseBytesMax", responseBytes, kgo.BrokerMaxReadBytes(responseBytes))
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
	to.Set("linger", time.Duration(o.LingerNs), kgo.ProducerLinger(time.Duration(o.LingerNs)))
	to.Set("batchBytes", o.BatchBytes, kgo.ProducerBatchMaxBytes(int32(o.BatchBytes)))
	to.Set("compression", o.Compression, kgo.ProducerBatchCompression(franz.Codecs[o.Compression]))
	to.Set("bufferedRecords", records, kgo.MaxBufferedRecords(int(records)))
	to.Set("bufferedBytes", bytes, kgo.MaxBufferedBytes(bytes))
	partitioner := "the message's partition; without one murmur2 of its key"
	if o.Partitioner == sticky {
		partitioner = "murmur2 of the key; without one sticky: until a batch is full or sent"
	}
	to.Set("partitioner", partitioner, kgo.RecordPartitioner(franz.Partitioner{Partitioner: kgo.StickyKeyPartitioner(nil)}))
	to.Set("produceTimeout", s.requestTimeout(), kgo.ProduceRequestTimeout(s.requestTimeout()))
	to.Set("recordTimeout", s.timeout(), kgo.RecordDeliveryTimeout(s.timeout()))
	to.Set("unknownTopicRetries", 4, kgo.UnknownTopicRetries(4))
	to.Set("requestsInFlight", requestsInFlight)
	to.Set("connectionsToBrokers", "one to each for sending, one to each for the rest")
	to.Set("idempotence", *o.Idempotence)
	switch {
	case s.transacts():
		to.Set("recordRetries", "until the transaction is given up after recordTimeout")
		most := time.Duration(o.TransactionNs) + transactionTimeout
		to.Set("transactionTimeout", most, kgo.TransactionTimeout(most))
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
	most := max(fetchBytes, o.FetchPartitionBytes)
	to.Set("fetchMinBytes", o.FetchMinBytes, kgo.FetchMinBytes(int32(o.FetchMinBytes)))
	to.Set("fetchMaxWait", time.Duration(o.FetchMaxWaitNs), kgo.FetchMaxWait(time.Duration(o.FetchMaxWaitNs)))
	to.Set("fetchMaxBytes", most, kgo.FetchMaxBytes(int32(most)))
	to.Set("fetchPartitionBytes", o.FetchPartitionBytes, kgo.FetchMaxPartitionBytes(int32(o.FetchPartitionBytes)))
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
	to.Set("sessionTimeout", s.sessionTimeout(), kgo.SessionTimeout(s.sessionTimeout()))
	to.Set("rebalanceTimeout", rebalanceTimeout, kgo.RebalanceTimeout(rebalanceTimeout))
	to.Set("heartbeatInterval", heartbeatInterval, kgo.HeartbeatInterval(heartbeatInterval))
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

// watch counts a client's connections and reports those that were lost.
type watch struct {
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
	_ kgo.HookBrokerConnect    = (*watch)(nil)
	_ kgo.HookBrokerDisconnect = (*watch)(nil)
	_ kgo.HookBrokerWrite      = (*watch)(nil)
	_ kgo.HookGroupManageError = (*watch)(nil)
	_ kgo.HookBrokerThrottle   = (*watch)(nil)
)

func (w *watch) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		w.report(fmt.Errorf("connect: %w", err))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost[meta.NodeID] > 0 {
		w.lost[meta.NodeID]--
		w.s.Reconnected()
	}
}

func (w *watch) OnBrokerDisconnect(meta kgo.BrokerMetadata, _ net.Conn) {
	if !w.settled.Load() || w.closing.Load() || w.s.IsQuiet() {
		return
	}
	w.report(fmt.Errorf("connection to broker %d lost", meta.NodeID))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost[meta.NodeID]++
}

// OnBrokerThrottle notes a quota: the library sends the broker nothing more for that long. Making topics is not part of the load.
func (w *watch) OnBrokerThrottle(_ kgo.BrokerMetadata, interval time.Duration, _ bool) {
	if w.settled.Load() && w != w.s.adminWatch {
		time.AfterFunc(interval, w.s.Hold())
	}
}

// Keys of requests in Kafka's protocol.
const (
	produceKey    = 0
	fetchKey      = 1
	shareFetchKey = 78
)

func (w *watch) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, bytes int, _, _ time.Duration, err error) {
	switch {
	case (key == fetchKey || key == shareFetchKey) && err == nil:
		w.fetches.Add(1)
	case key == produceKey && bytes > 0:
		// Some bytes of a failed write may have left, too.
		w.producedNs.Store(w.s.Now())
	}
}

func (w *watch) OnGroupManageError(err error) { w.report(fmt.Errorf("group: %w", err)) }

func (w *watch) report(err error) {
	if !w.closing.Load() {
		w.s.Report("", err)
	}
}
