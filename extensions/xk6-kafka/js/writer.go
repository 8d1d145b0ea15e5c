package js

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/grafana/sobek"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/metrics"

	"github.com/mqbench/mqbench/extensions/xk6-kafka/franz"
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
	RequiredAcks    any      `json:"requiredAcks"`
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
	err := i.options(name, configuration, &w.writing, configured)
	if err == nil {
		w.client, err = i.Module.client(&w.writing)
	}
	if err != nil {
		return err
	}
	flush := func(ctx context.Context) (script.Result, error) { return nil, flush(ctx, w.client) }
	i.waits(on, "produce", writerErrors, w.produce)
	i.waits(on, "flush", writerErrors, func([]sobek.Value) (script.Wait, error) { return flush, nil })
	i.waits(on, "close", writerErrors, func([]sobek.Value) (script.Wait, error) {
		w.closed = true // the client is others' too, and ends with the test
		return flush, nil
	})
	return nil
}

// --- internal ---

// The public module's defaults, but for acks: without requiredAcks it takes none, and would not notice a lost message.
const (
	defaultAttempts     = 10
	defaultBatchBytes   = 1 << 20
	defaultWriteTimeout = 10 * time.Second
)

func (w *writing) options() ([]kgo.Opt, error) {
	options, failed := w.access.options()
	codec, unknown := word(franz.Codecs, cmp.Or(w.Compression, "none"), "compression %q is none of CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4 and CODEC_ZSTD")
	acks, wrong := word(franz.Acks, fmt.Sprint(cmp.Or(w.RequiredAcks, "all")), "requiredAcks must be -1 (all), 0 (none) or 1 (the leader's), got %s")
	byKey, odd := word(balancers, w.Balancer, "balancer %q is none of the module's BALANCER_ constants, nor a function")
	if err := cmp.Or(failed, unknown, wrong, odd); err != nil {
		return nil, err
	}
	if w.AutoCreateTopic {
		options = append(options, kgo.AllowAutoTopicCreation())
	}
	return append(options,
		kgo.RequiredAcks(acks), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(5), kgo.ProducerLinger(0),
		kgo.RecordRetries(cmp.Or(w.MaxAttempts, defaultAttempts)),
		kgo.ProduceRequestTimeout(w.WriteTimeout.or(defaultWriteTimeout)), kgo.UnknownTopicRetries(20),
		kgo.ProducerBatchMaxBytes(cmp.Or(w.BatchBytes, defaultBatchBytes)), kgo.ProducerBatchCompression(codec),
		kgo.RecordPartitioner(franz.Partitioner{Partitioner: byKey}), kgo.MaxBufferedRecords(1_000_000),
	), nil
}

// produce sends { messages: [...] } and waits until all are acknowledged, or with acks 0 until they have left.
func (w *writer) produce(args []sobek.Value) (script.Wait, error) {
	if w.closed {
		return nil, errClosed
	}
	state := w.vu.State()
	if state == nil {
		return nil, errInit
	}
	records, err := w.records(script.Argument(args, 0))
	if err != nil {
		return nil, err
	}
	tags := script.Tags(state)
	return func(ctx context.Context) (_ script.Result, failed error) {
		// The library's own limit counts from a message's time, which scripts may set.
		ctx, cancel := context.WithTimeout(ctx, w.WriteTimeout.or(defaultWriteTimeout))
		defer cancel()
		began := time.Now()
		results := w.client.ProduceSync(ctx, records...)
		w.test.Metrics.Add(writeSeconds, tags, metrics.D(time.Since(began)))
		bytes, arrived := 0, 0
		for _, one := range results {
			switch {
			case one.Err == nil:
				arrived++
				bytes += len(one.Record.Key) + len(one.Record.Value)
			case failed == nil:
				failed = fmt.Errorf("to %q: %w", one.Record.Topic, one.Err)
			}
		}
		w.test.Metrics.Add(writerMessages, tags, float64(arrived))
		w.test.Metrics.Add(writerBytes, tags, float64(bytes))
		return nil, failed
	}, nil
}

// records reads messages; unknown keys are ignored, and so is offset.
func (w *writer) records(batch sobek.Value) ([]*kgo.Record, error) {
	var list *sobek.Object
	if object, is := batch.(*sobek.Object); is {
		list, _ = object.Get("messages").(*sobek.Object)
	}
	if list == nil || list.ClassName() != "Array" {
		return nil, errors.New("it needs messages: produce({ messages: [{ value: ... }] })")
	}
	records := make([]*kgo.Record, list.Get("length").ToInteger())
	for at := range records {
		m, is := list.Get(strconv.Itoa(at)).(*sobek.Object)
		if !is {
			return nil, fmt.Errorf("message %d is no object: { key, value, headers }", at)
		}
		var err error
		if records[at], err = w.record(w.vu.Runtime(), m); err != nil {
			return nil, fmt.Errorf("message %d: %w", at, err)
		}
	}
	return records, nil
}

func (w *writer) record(rt *sobek.Runtime, m *sobek.Object) (*kgo.Record, error) {
	one := &kgo.Record{Topic: w.Topic, Partition: franz.AnyPartition}
	if topic := given(m, "topic"); topic != nil {
		one.Topic = topic.String()
	}
	if one.Topic == "" {
		return nil, errors.New("neither it nor the writer has a topic")
	}
	var err error
	if one.Key, err = script.Bytes(rt, "key", given(m, "key")); err == nil {
		one.Value, err = script.Bytes(rt, "value", given(m, "value"))
	}
	if err != nil {
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
	if value := object.Get(name); !common.IsNullish(value) {
		return value
	}
	return nil
}

// balancers give the same partition as the public module for the same key; messages without one go round.
var balancers = map[string]kgo.Partitioner{
	"": kgo.RoundRobinPartitioner(), "balancer_roundrobin": kgo.RoundRobinPartitioner(), "balancer_leastbytes": kgo.RoundRobinPartitioner(),
	"balancer_hash": kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(func(key []byte) uint32 {
		hash := fnv.New32a()
		_, _ = hash.Write(key)
		return hash.Sum32()
	})),
	"balancer_crc32":   kgo.StickyKeyPartitioner(func(key []byte, n int) int { return int(crc32.ChecksumIEEE(key) % uint32(n)) }),
	"balancer_murmur2": kgo.StickyKeyPartitioner(nil),
}
