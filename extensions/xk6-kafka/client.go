package kafka

import (
	"fmt"
	"maps"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Every option of the library that decides a number is set in this file, and printed by Describe. Its own defaults: linger
// 10 ms, snappy, endless retries, 1 000 012-byte batches, 5 s between looks at the cluster, one request in flight without
// idempotence.
const (
	dialTimeout       = 5 * time.Second
	connIdle          = 9 * time.Minute // as Kafka's connections.max.idle.ms on clients
	metadataMaxAge    = 5 * time.Minute
	metadataMinAge    = 100 * time.Millisecond
	retryBackoffFirst = 100 * time.Millisecond
	retryBackoffMost  = time.Second
	requestRetries    = 20
	leastRequestTime  = 5 * time.Second
	// bufferedRecords is how many messages a client may hold that are not acknowledged where inFlight does not bound them; and
	// bufferedBytes, their size. Then Send blocks.
	bufferedRecords = 1_000_000
	bufferedBytes   = 1 << 30
	// inFlightSlack: the library takes a message out of its count after our done has let the next one go.
	inFlightSlack = 1000
	// requestsInFlight per broker, as Kafka's max.in.flight.requests.per.connection. With idempotence the library's own is the same.
	requestsInFlight = 5
	// requestBytes and responseBytes: above what the server takes (socket.request.max.bytes), so that it is the one to refuse.
	requestBytes  = 100 << 20
	responseBytes = 256 << 20
	fetchBytes    = 50 << 20

	sessionTimeout    = 45 * time.Second
	rebalanceTimeout  = time.Minute
	heartbeatInterval = 500 * time.Millisecond
	pollRecords       = 500
)

var acks = map[string]kgo.Acks{"0": kgo.NoAck(), "1": kgo.LeaderAck(), "all": kgo.AllISRAcks()}

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

var balancers = map[string]kgo.GroupBalancer{
	"range": kgo.RangeBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer(),
}

// common returns what all clients of the session are told, and the same for people.
func (s *session) common() ([]kgo.Opt, map[string]string) {
	request := s.requestTimeout()
	return append([]kgo.Opt{
			kgo.DialTimeout(dialTimeout),
			kgo.RequestTimeoutOverhead(request),
			kgo.ConnIdleTimeout(connIdle),
			kgo.MetadataMaxAge(metadataMaxAge),
			kgo.MetadataMinAge(metadataMinAge),
			kgo.RetryBackoffFn(retryBackoff),
			kgo.RequestRetries(requestRetries),
			kgo.RetryTimeout(2 * request),
			kgo.BrokerMaxWriteBytes(requestBytes),
			kgo.BrokerMaxReadBytes(responseBytes),
			kgo.DisableClientMetrics(),
		}, s.reach...), merged(s.reachSettings, map[string]string{
			"dialTimeout":       dialTimeout.String(),
			"requestTimeout":    request.String(),
			"connectionIdle":    connIdle.String(),
			"metadataMaxAge":    metadataMaxAge.String(),
			"metadataMinAge":    metadataMinAge.String(),
			"retryBackoff":      fmt.Sprintf("%s, doubled up to %s", retryBackoffFirst, retryBackoffMost),
			"requestRetries":    strconv.Itoa(requestRetries),
			"requestBytesMax":   strconv.Itoa(requestBytes),
			"responseBytesMax":  strconv.Itoa(responseBytes),
			"clientMetricsPush": "false",
		})
}

func (s *session) producing() ([]kgo.Opt, map[string]string) {
	o := s.own
	request := s.requestTimeout()
	records := int64(bufferedRecords)
	if s.options.InFlight > 0 {
		records = s.options.InFlight + inFlightSlack
	}
	opts := []kgo.Opt{
		kgo.RequiredAcks(acks[o.Acks]),
		kgo.ProducerLinger(time.Duration(o.LingerNs)),
		kgo.ProducerBatchMaxBytes(int32(o.BatchBytes)),
		kgo.ProducerBatchCompression(codecs[o.Compression]),
		kgo.MaxBufferedRecords(int(records)),
		kgo.MaxBufferedBytes(max(bufferedBytes, 2*s.options.MessageBytes)),
		kgo.RecordPartitioner(partitioner{keyed: kgo.StickyKeyPartitioner(nil)}),
		kgo.ProduceRequestTimeout(request),
		kgo.RecordDeliveryTimeout(s.timeout()),
		kgo.UnknownTopicRetries(4),
	}
	settings := map[string]string{
		"acks":                 o.Acks,
		"idempotence":          strconv.FormatBool(*o.Idempotence),
		"linger":               time.Duration(o.LingerNs).String(),
		"batchBytes":           strconv.FormatInt(o.BatchBytes, 10),
		"compression":          o.Compression,
		"bufferedRecords":      strconv.FormatInt(records, 10),
		"bufferedBytes":        strconv.Itoa(max(bufferedBytes, 2*s.options.MessageBytes)),
		"partitioner":          "the message's partition; without one murmur2 of its key",
		"produceTimeout":       request.String(),
		"recordTimeout":        s.timeout().String(),
		"requestsInFlight":     strconv.Itoa(requestsInFlight),
		"unknownTopicRetries":  "4",
		"connectionsToBrokers": "one to each for sending, one to each for the rest",
	}
	if *o.Idempotence {
		// Subtle: without this, a message that may have arrived is never given up. We never send one again, so that the
		// duplicates that the library warns of cannot come.
		opts = append(opts, kgo.AllowIdempotentProduceCancellation())
		settings["recordRetries"] = "until recordTimeout"
	} else {
		// A second try could make a second copy, and overtake. Then there is none.
		opts = append(opts, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(requestsInFlight),
			kgo.RecordRetries(0))
		settings["recordRetries"] = "0"
	}
	return opts, settings
}

func (s *session) consuming() ([]kgo.Opt, map[string]string) {
	o := s.own
	return []kgo.Opt{
			kgo.FetchMinBytes(int32(o.FetchMinBytes)),
			kgo.FetchMaxWait(time.Duration(o.FetchMaxWaitNs)),
			kgo.FetchMaxBytes(int32(max(fetchBytes, o.FetchPartitionBytes))),
			kgo.FetchMaxPartitionBytes(int32(o.FetchPartitionBytes)),
			kgo.MaxConcurrentFetches(-1),
			kgo.FetchIsolationLevel(kgo.ReadUncommitted()),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()),
		}, map[string]string{
			"fetchMinBytes":       strconv.FormatInt(o.FetchMinBytes, 10),
			"fetchMaxWait":        time.Duration(o.FetchMaxWaitNs).String(),
			"fetchMaxBytes":       strconv.FormatInt(max(fetchBytes, o.FetchPartitionBytes), 10),
			"fetchPartitionBytes": strconv.FormatInt(o.FetchPartitionBytes, 10),
			"concurrentFetches":   "one per broker",
			"isolation":           "read uncommitted",
			"resetOffset":         "end",
		}
}

func (s *session) grouping(group string) ([]kgo.Opt, map[string]string) {
	o := s.own
	return []kgo.Opt{
			kgo.ConsumerGroup(group),
			kgo.Balancers(balancers[o.Assignor]),
			kgo.SessionTimeout(sessionTimeout),
			kgo.RebalanceTimeout(rebalanceTimeout),
			kgo.HeartbeatInterval(heartbeatInterval),
			// The group is as new as its topic, so that whatever is sent belongs to it; or begin has said where it begins.
			kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
			kgo.AutoCommitMarks(),
			kgo.AutoCommitInterval(time.Duration(o.CommitIntervalNs)),
		}, map[string]string{
			"resetOffset":       "start",
			"groupProtocol":     "classic",
			"assignor":          o.Assignor,
			"sessionTimeout":    sessionTimeout.String(),
			"rebalanceTimeout":  rebalanceTimeout.String(),
			"heartbeatInterval": heartbeatInterval.String(),
			"commitInterval":    time.Duration(o.CommitIntervalNs).String(),
			"pollRecords":       strconv.Itoa(pollRecords),
		}
}

// timeout of a message, at least the library's own minimum.
func (s *session) timeout() time.Duration {
	if s.options.TimeoutNs == 0 {
		return defaultTimeout
	}
	return max(time.Second, time.Duration(s.options.TimeoutNs))
}

// requestTimeout is half of a message's: the broker may take the first half to answer, the connection is given up after the second.
func (s *session) requestTimeout() time.Duration { return max(leastRequestTime, s.timeout()/2) }

func retryBackoff(fails int) time.Duration {
	return min(retryBackoffFirst<<min(max(fails-1, 0), 10), retryBackoffMost)
}

// watch counts a client's connections, and tells of those that were lost.
type watch struct {
	s *session
	// settled: the client is set up. Before, connections come and go as it finds the cluster and its group.
	settled atomic.Bool
	// closing: connections go because we said so.
	closing atomic.Bool
	// producedNs is when the last request with records was written.
	producedNs atomic.Int64
	fetches    atomic.Int64

	mu   sync.Mutex
	lost map[int32]int
}

var (
	_ kgo.HookBrokerConnect    = (*watch)(nil)
	_ kgo.HookBrokerDisconnect = (*watch)(nil)
	_ kgo.HookBrokerWrite      = (*watch)(nil)
	_ kgo.HookGroupManageError = (*watch)(nil)
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
		w.s.reconnects.Add(1)
	}
}

func (w *watch) OnBrokerDisconnect(meta kgo.BrokerMetadata, _ net.Conn) {
	if !w.settled.Load() || w.closing.Load() || w.s.closing.Load() {
		return
	}
	w.mu.Lock()
	if w.lost == nil {
		w.lost = map[int32]int{}
	}
	w.lost[meta.NodeID]++
	w.mu.Unlock()
	w.report(fmt.Errorf("connection to broker %d lost", meta.NodeID))
}

// Keys of requests in Kafka's protocol.
const (
	produceKey = 0
	fetchKey   = 1
)

func (w *watch) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, bytes int, _, _ time.Duration, err error) {
	switch {
	case key == fetchKey && err == nil:
		w.fetches.Add(1)
	case key == produceKey && bytes > 0:
		// Of a write that failed, too, some bytes may have left.
		w.producedNs.Store(w.s.options.Now())
	}
}

func (w *watch) OnGroupManageError(err error) { w.report(fmt.Errorf("group: %w", err)) }

func (w *watch) report(err error) {
	if !w.closing.Load() && !w.s.closing.Load() {
		w.s.options.Report("kafka", err)
	}
}

// partitioner takes the partition that the message names, else lets the key decide as Kafka's own client does.
type partitioner struct{ keyed kgo.Partitioner }

// keyDecides stands for a partition in broker.Message. nowhere is one that no topic has: its record fails in the client, after
// the topic's metadata has come.
const (
	keyDecides = -1
	nowhere    = -2
)

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	return &topicPartitioner{p.keyed.ForTopic(topic)}
}

type topicPartitioner struct{ keyed kgo.TopicPartitioner }

func (*topicPartitioner) RequiresConsistency(*kgo.Record) bool { return true }

func (p *topicPartitioner) Partition(r *kgo.Record, n int) int {
	if r.Partition == keyDecides {
		return p.keyed.Partition(r, n)
	}
	return int(r.Partition)
}

func merged(all ...map[string]string) map[string]string {
	result := map[string]string{}
	for _, one := range all {
		maps.Copy(result, one)
	}
	return result
}
