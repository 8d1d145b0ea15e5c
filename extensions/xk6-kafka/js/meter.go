package js

// Names of the metrics, the public module's, of calls. Trends are in milliseconds.
const (
	writerMessages = "kafka_writer_message_count"
	writerBytes    = "kafka_writer_message_bytes"
	writerErrors   = "kafka_writer_error_count"
	writeSeconds   = "kafka_writer_write_seconds"

	readerMessages = "kafka_reader_message_count"
	readerBytes    = "kafka_reader_message_bytes"
	readerErrors   = "kafka_reader_error_count"
	readerTimeouts = "kafka_reader_timeouts_count"
	readerOffset   = "kafka_reader_offset"
	readerLag      = "kafka_reader_lag"
)

var (
	counters = []string{writerMessages, writerBytes, writerErrors, readerMessages, readerBytes, readerErrors, readerTimeouts}
	trends   = []string{writeSeconds}
	gauges   = []string{readerOffset, readerLag}
)
