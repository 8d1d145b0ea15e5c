package js

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// writing is a Writer's configuration. Batches are franz-go's: whatever waits goes out at once, so batchSize and batchTimeout have no effect.
type writing struct {
	access
	Topic           string   `json:"topic"`
	AutoCreateTopic bool     `json:"autoCreateTopic"`
	Balancer        string   `json:"balancer"`
	MaxAttempts     int      `json:"maxAttempts"`
	BatchBytes      int32    `json:"batchBytes"`
	WriteTimeout    duration `json:"writeTimeout"`
	RequiredAcks    *int     `json:"requiredAcks"`
	Compression     string   `json:"compression"`
}

// writer is one `new Writer` of a VU.
type writer struct {
	*instance
	writing
	client   *kgo.Client
	balancer sobek.Callable
	closed   bool
}

func newWriter(i *instance, name string, configuration sobek.Value, on *sobek.Object) error {
	w := &writer{instance: i}
	if object, is := configuration.(*sobek.Object); is {
		w.balancer, _ = sobek.AssertFunction(object.Get("balancer"))
	}
	if err := i.options(name, configuration, &w.writing, configured); err != nil {
		return err
	}
	key, err := json.Marshal(w.writing)
	if err != nil {
		return err
	}
	if w.client, err = i.Module.client("writer "+string(key), w.options); err != nil {
		return err
	}
	i.waits(on, "produce", writerErrors, w.produce)
	i.waits(on, "flush", writerErrors, func([]sobek.Value) (script.Wait, error) {
		return func(ctx context.Context) (script.Result, error) { return nil, w.flush(ctx) }, nil
	})
	i.waits(on, "close", writerErrors, func([]sobek.Value) (script.Wait, error) {
		open := !w.closed
		w.closed = true
		return func(ctx context.Context) (script.Result, error) {
			if !open {
				return nil, nil
			}
			return nil, w.flush(ctx)
		}, nil
	})
	return nil
}

// --- internal ---

// The public module's defaults, but for acks: without requiredAcks it takes none, and would not hear of a message that is lost.
const (
	defaultAttempts     = 10
	defaultBatchBytes   = 1 << 20
	defaultWriteTimeout = 10 * time.Second
	defaultAcks         = -1
)

var codecs = map[string]kgo.CompressionCodec{
	"": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

var acks = map[int]kgo.Acks{-1: kgo.AllISRAcks(), 0: kgo.NoAck(), 1: kgo.LeaderAck()}

func (w *writer) options() ([]kgo.Opt, error) {
	options, err := w.access.options()
	if err != nil {
		return nil, err
	}
	codec, known := codecs[w.Compression]
	if !known {
		return nil, fmt.Errorf("compression %q is none of CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4 and CODEC_ZSTD", w.Compression)
	}
	required := defaultAcks
	if w.RequiredAcks != nil {
		required = *w.RequiredAcks
	}
	confirmed, known := acks[required]
	if !known {
		return nil, fmt.Errorf("requiredAcks must be -1 (all), 0 (none) or 1 (the leader's), got %d", required)
	}
	byKey, err := balancerOf(w.Balancer)
	if err != nil {
		return nil, err
	}
	if w.AutoCreateTopic {
		options = append(options, kgo.AllowAutoTopicCreation())
	}
	return append(options,
		kgo.RequiredAcks(confirmed), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(5), kgo.ProducerLinger(0),
		kgo.RecordRetries(cmp.Or(w.MaxAttempts, defaultAttempts)),
		kgo.ProduceRequestTimeout(w.WriteTimeout.or(defaultWriteTimeout)), kgo.UnknownTopicRetries(20),
		kgo.ProducerBatchMaxBytes(cmp.Or(w.BatchBytes, defaultBatchBytes)), kgo.ProducerBatchCompression(codec),
		kgo.RecordPartitioner(partitioner{byKey}), kgo.MaxBufferedRecords(1_000_000),
	), nil
}

// produce sends { messages: [...] } and waits until all are acknowledged, or left where nobody acknowledges.
func (w *writer) produce(args []sobek.Value) (script.Wait, error) {
	if w.closed {
		return nil, errClosed
	}
	if w.vu.State() == nil {
		return nil, errors.New("it cannot be called in the init context")
	}
	records, err := w.records(script.Argument(args, 0))
	if err != nil {
		return nil, err
	}
	tags := w.tags()
	return func(ctx context.Context) (script.Result, error) {
		var all sync.WaitGroup
		var mu sync.Mutex
		var failed error
		bytes, arrived := 0, 0
		// The library's own limit counts from a message's time, which scripts may set.
		ctx, cancel := context.WithTimeout(ctx, w.WriteTimeout.or(defaultWriteTimeout))
		defer cancel()
		all.Add(len(records))
		began := time.Now()
		for _, one := range records {
			w.client.Produce(ctx, one, func(r *kgo.Record, err error) {
				defer all.Done()
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					arrived++
					bytes += len(r.Key) + len(r.Value)
				} else if failed == nil {
					failed = fmt.Errorf("to %q: %w", r.Topic, err)
				}
			})
		}
		all.Wait()
		w.test.Metrics.Took(writeSeconds, tags, time.Since(began))
		w.test.Metrics.Add(writerMessages, tags, float64(arrived))
		w.test.Metrics.Add(writerBytes, tags, float64(bytes))
		return nil, failed
	}, nil
}

func (w *writer) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	return w.client.Flush(ctx)
}

// records reads messages; unknown keys are ignored, and so is offset.
func (w *writer) records(given sobek.Value) ([]*kgo.Record, error) {
	rt := w.vu.Runtime()
	var list *sobek.Object
	if object, is := given.(*sobek.Object); is {
		list, _ = object.Get("messages").(*sobek.Object)
	}
	if list == nil || list.ClassName() != "Array" {
		return nil, errors.New("it needs messages: produce({ messages: [{ value: ... }] })")
	}
	records := make([]*kgo.Record, 0, list.Get("length").ToInteger())
	for at := range cap(records) {
		m, is := list.Get(fmt.Sprint(at)).(*sobek.Object)
		if !is {
			return nil, fmt.Errorf("message %d is no object: { key, value, headers }", at)
		}
		one, err := w.record(rt, m)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", at, err)
		}
		records = append(records, one)
	}
	return records, nil
}

func (w *writer) record(rt *sobek.Runtime, m *sobek.Object) (*kgo.Record, error) {
	one := &kgo.Record{Topic: w.Topic, Partition: anyPartition}
	if topic := given(m, "topic"); topic != nil {
		one.Topic = topic.String()
	}
	if one.Topic == "" {
		return nil, errors.New("neither it nor the writer has a topic")
	}
	var err error
	if one.Key, err = script.Bytes(rt, "key", given(m, "key")); err != nil {
		return nil, err
	}
	if one.Value, err = script.Bytes(rt, "value", given(m, "value")); err != nil {
		return nil, err
	}
	if headers := given(m, "headers"); headers != nil {
		object, is := headers.(*sobek.Object)
		if !is {
			return nil, errors.New("headers must be an object: { name: 'text' }")
		}
		for _, name := range object.Keys() {
			value, err := script.Bytes(rt, "header "+name, object.Get(name))
			if err != nil {
				value = []byte(object.Get(name).String())
			}
			one.Headers = append(one.Headers, kgo.RecordHeader{Key: name, Value: value})
		}
	}
	if at := given(m, "time"); at != nil {
		if date, is := at.Export().(time.Time); is {
			one.Timestamp = date
		}
	}
	if partition := given(m, "partition"); partition != nil {
		one.Partition = int32(partition.ToInteger())
	} else if w.balancer != nil {
		one.Partition, err = w.choose(rt, one)
	}
	return one, err
}

// choose asks the script's balancer for a partition.
func (w *writer) choose(rt *sobek.Runtime, one *kgo.Record) (int32, error) {
	ctx, cancel := context.WithTimeout(w.vu.Context(), requestTimeout)
	defer cancel()
	topics, err := listed(ctx, w.client, one.Topic)
	if err != nil {
		return 0, err
	}
	count := len(topics[one.Topic].Partitions)
	chosen, err := w.balancer(sobek.Undefined(), script.Uint8Array(rt, one.Key), rt.ToValue(count))
	if err != nil {
		return 0, fmt.Errorf("balancer: %w", err)
	}
	if at := chosen.ToInteger(); at >= 0 && at < int64(count) {
		return int32(at), nil
	}
	return 0, fmt.Errorf("balancer: %s is none of the topic's %d partitions", chosen, count)
}

// given is a property that is there, or nil.
func given(object *sobek.Object, name string) sobek.Value {
	return script.Argument([]sobek.Value{object.Get(name)}, 0)
}

// anyPartition is of messages whose partition the balancer chooses.
const anyPartition = -1

// partitioner takes a message's own partition, where it has one.
type partitioner struct{ kgo.Partitioner }

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	return topicPartitioner{p.Partitioner.ForTopic(topic)}
}

type topicPartitioner struct{ kgo.TopicPartitioner }

func (p topicPartitioner) RequiresConsistency(r *kgo.Record) bool {
	return r.Partition != anyPartition || p.TopicPartitioner.RequiresConsistency(r)
}

func (p topicPartitioner) Partition(r *kgo.Record, n int) int {
	if r.Partition != anyPartition {
		return int(r.Partition) // one that is not there fails the message
	}
	return p.TopicPartitioner.Partition(r, n)
}

// balancerOf gives the same partition as the public module for the same key; messages without one go round.
func balancerOf(name string) (kgo.Partitioner, error) {
	switch name {
	case "", "balancer_roundrobin":
		return kgo.RoundRobinPartitioner(), nil
	case "balancer_leastbytes":
		return kgo.LeastBackupPartitioner(), nil
	case "balancer_hash":
		return hashed(func(key []byte, n int) int {
			hash := fnv.New32a()
			_, _ = hash.Write(key)
			at := int32(hash.Sum32()) % int32(n)
			return int(max(at, -at))
		}), nil
	case "balancer_crc32":
		return hashed(func(key []byte, n int) int { return int(crc32.ChecksumIEEE(key) % uint32(n)) }), nil
	case "balancer_murmur2":
		return kgo.StickyKeyPartitioner(nil), nil
	}
	return nil, fmt.Errorf("balancer %q is none of the module's BALANCER_ constants, nor a function", name)
}

func hashed(partition func(key []byte, n int) int) kgo.Partitioner {
	return kgo.StickyKeyPartitioner(kgo.PartitionerHasher(partition))
}
