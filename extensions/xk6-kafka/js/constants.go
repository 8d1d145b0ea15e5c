package js

import "time"

// constants are exported by name, for both versions of the public module.
var constants = map[string]any{
	"NONE": "none", "SASL_PLAIN": "sasl_plain", "SASL_SCRAM_SHA256": "sasl_scram_sha256", "SASL_SCRAM_SHA512": "sasl_scram_sha512",
	"SASL_SSL": "sasl_ssl", "SASL_AWS_IAM": "sasl_aws_iam", "SASL_GSSAPI": "sasl_gssapi", "SASL_AZURE_ENTRA": "sasl_azure_entra",
	"SASL_GCP_OAUTH": "sasl_gcp_oauth",
	"TLS_1_0":        "tlsv1.0", "TLS_1_1": "tlsv1.1", "TLS_1_2": "tlsv1.2", "TLS_1_3": "tlsv1.3",
	"CODEC_GZIP": "gzip", "CODEC_SNAPPY": "snappy", "CODEC_LZ4": "lz4", "CODEC_ZSTD": "zstd",
	"KEY": "key", "VALUE": "value",
	"TOPIC_NAME_STRATEGY": topicName, "RECORD_NAME_STRATEGY": recordName, "TOPIC_RECORD_NAME_STRATEGY": topicRecordName,
	"ISOLATION_LEVEL_READ_UNCOMMITTED": "isolation_level_read_uncommitted", "ISOLATION_LEVEL_READ_COMMITTED": "isolation_level_read_committed",
	"START_OFFSETS_FIRST_OFFSET": "start_offsets_first_offset", "START_OFFSETS_LAST_OFFSET": "start_offsets_last_offset",
	"FIRST_OFFSET": firstOffset, "LAST_OFFSET": lastOffset,
	"BALANCER_ROUND_ROBIN": "balancer_roundrobin", "BALANCER_LEAST_BYTES": "balancer_leastbytes", "BALANCER_HASH": "balancer_hash",
	"BALANCER_CRC32": "balancer_crc32", "BALANCER_MURMUR2": "balancer_murmur2",
	"GROUP_BALANCER_RANGE": "group_balancer_range", "GROUP_BALANCER_ROUND_ROBIN": "group_balancer_round_robin",
	"GROUP_BALANCER_RACK_AFFINITY": "group_balancer_rack_affinity",
	"SCHEMA_TYPE_STRING":           typeString, "SCHEMA_TYPE_BYTES": typeBytes, "SCHEMA_TYPE_AVRO": typeAvro, "SCHEMA_TYPE_JSON": typeJSON,
	"SCHEMA_TYPE_PROTOBUF": typeProtobuf,
	"NANOSECOND":           int64(time.Nanosecond), "MICROSECOND": int64(time.Microsecond), "MILLISECOND": int64(time.Millisecond),
	"SECOND": int64(time.Second), "MINUTE": int64(time.Minute), "HOUR": int64(time.Hour),
}

// Offsets that are words in Kafka's protocol.
const (
	lastOffset  = -1
	firstOffset = -2
)

// Kinds of values in a message: SCHEMA_TYPE_ constants; and names of subjects in a registry.
const (
	typeString, typeBytes, typeJSON, typeAvro, typeProtobuf = "STRING", "BYTES", "JSON", "AVRO", "PROTOBUF"

	topicName, recordName, topicRecordName = "TopicNameStrategy", "RecordNameStrategy", "TopicRecordNameStrategy"
)

const (
	dialTimeout    = 5 * time.Second
	requestTimeout = 10 * time.Second
	closeTimeout   = 5 * time.Second
)

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
