package js

import (
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.k6.io/k6/v2/metrics"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// Names of the metrics, the public module's. Trends are in milliseconds, records and bytes.
const (
	writerWrites   = "kafka_writer_write_count"
	writerMessages = "kafka_writer_message_count"
	writerBytes    = "kafka_writer_message_bytes"
	writerErrors   = "kafka_writer_error_count"
	writerRetries  = "kafka_writer_retries_count"
	writeSeconds   = "kafka_writer_write_seconds"
	writerWait     = "kafka_writer_wait_seconds"
	batchSize      = "kafka_writer_batch_size"
	batchBytes     = "kafka_writer_batch_bytes"

	readerMessages   = "kafka_reader_message_count"
	readerBytes      = "kafka_reader_message_bytes"
	readerErrors     = "kafka_reader_error_count"
	readerFetches    = "kafka_reader_fetches_count"
	readerRebalances = "kafka_reader_rebalance_count"
	readerTimeouts   = "kafka_reader_timeouts_count"
	readSeconds      = "kafka_reader_read_seconds"
	readerWait       = "kafka_reader_wait_seconds"
	fetchSize        = "kafka_reader_fetch_size"
	fetchBytes       = "kafka_reader_fetch_bytes"
	readerOffset     = "kafka_reader_offset"
	readerLag        = "kafka_reader_lag"
)

var (
	counters = []string{
		writerWrites, writerMessages, writerBytes, writerErrors, writerRetries,
		readerMessages, readerBytes, readerErrors, readerFetches, readerRebalances, readerTimeouts,
	}
	trends = []string{writeSeconds, writerWait, batchSize, batchBytes, readSeconds, readerWait, fetchSize, fetchBytes}
	gauges = []string{readerOffset, readerLag}
)

// meter measures what clients do by themselves, beside the calls of scripts: batches, fetches, tries. It has the tags of the test, for several
// VUs may share a batch.
type meter struct {
	metrics *script.Metrics
	// tags of the VU that was the first to do something.
	tags atomic.Pointer[metrics.TagSet]
}

var (
	_ kgo.HookProduceBatchWritten = (*meter)(nil)
	_ kgo.HookFetchBatchRead      = (*meter)(nil)
	_ kgo.HookBrokerE2E           = (*meter)(nil)
)

// OnProduceBatchWritten is called by the library for each batch that the broker has got.
func (m *meter) OnProduceBatchWritten(_ kgo.BrokerMetadata, _ string, _ int32, b kgo.ProduceBatchMetrics) {
	m.add(writerWrites, 1)
	m.add(batchSize, float64(b.NumRecords))
	m.add(batchBytes, float64(b.CompressedBytes))
}

// OnFetchBatchRead is called for each batch that comes.
func (m *meter) OnFetchBatchRead(_ kgo.BrokerMetadata, _ string, _ int32, b kgo.FetchBatchMetrics) {
	m.add(fetchSize, float64(b.NumRecords))
	m.add(fetchBytes, float64(b.CompressedBytes))
}

// OnBrokerE2E is called for each request with its times. What fails is tried again by the library.
func (m *meter) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e kgo.BrokerE2E) {
	switch key {
	case int16(kmsg.Produce):
		if e.Err() != nil {
			m.add(writerRetries, 1)
			return
		}
		m.took(writerWait, e.ReadWait+e.TimeToRead)
	case int16(kmsg.Fetch):
		if e.Err() != nil {
			return
		}
		m.add(readerFetches, 1)
		m.took(readerWait, e.ReadWait)
		m.took(readSeconds, e.TimeToRead)
	}
}

// --- internal ---

func (m *meter) rebalanced() { m.add(readerRebalances, 1) }
func (m *meter) timedOut()   { m.add(readerTimeouts, 1) }

func (m *meter) add(name string, n float64) {
	if tags := m.tags.Load(); tags != nil {
		m.metrics.Add(name, tags, n)
	}
}

func (m *meter) took(name string, took time.Duration) { m.add(name, metrics.D(took)) }
