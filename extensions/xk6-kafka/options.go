package kafka

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// options are the driver's own; runner/brokers/kafka/options.ts writes them. What is missing has Kafka's own default,
// that of its Java client, except where it says so here.
type options struct {
	// Acks that a producer waits for: "all" (the default, as Kafka's), "1": the leader's, "0": none.
	Acks string `json:"acks"`
	// Idempotence: nil: with acks "all", as Kafka's.
	Idempotence *bool `json:"idempotence"`
	// LingerNs is how long a batch waits for more messages. 0 by default: up to Kafka 3 its own default, since 4 that is 5 ms.
	LingerNs int64 `json:"lingerNs"`
	// BatchBytes is the largest batch. Default: 1 MiB, so that a fast producer is not held up by it; Kafka's: 16 KiB.
	BatchBytes  int64  `json:"batchBytes"`
	Compression string `json:"compression"`
	// MinInsyncReplicas of the topics; 0: the broker's own.
	MinInsyncReplicas int `json:"minInsyncReplicas"`

	FetchMinBytes       int64 `json:"fetchMinBytes"`
	FetchMaxWaitNs      int64 `json:"fetchMaxWaitNs"`
	FetchPartitionBytes int64 `json:"fetchPartitionBytes"`

	// Assignor of partitions to the members of a group: "range" (the default, as Kafka's), "cooperative-sticky".
	Assignor string `json:"assignor"`
	// CommitIntervalNs is how often a member tells the broker how far it is. Kafka's default is 5 s; 100 ms here, nearer to the
	// single acknowledgements of other systems.
	CommitIntervalNs int64 `json:"commitIntervalNs"`

	// Sasl is how a user of the URL is authenticated: "plain" (the default), "scram-sha-256", "scram-sha-512".
	Sasl string `json:"sasl"`
	// TLS is true, false or an object of tlsOptions; a URL kafkas:// means true.
	TLS json.RawMessage `json:"tls"`
}

type tlsOptions struct {
	CA         string `json:"ca"`
	Cert       string `json:"cert"`
	Key        string `json:"key"`
	ServerName string `json:"serverName"`
	Insecure   bool   `json:"insecure"`
}

const (
	// recordBytes is more than a batch of one record adds to its payload: 61 for the batch, 21 for the record, and the key.
	recordBytes = 512
	// topicBytes is what a topic takes above the largest batch.
	topicBytes = 64 << 10

	defaultBatchBytes     = 1 << 20
	defaultFetchBytes     = 1 << 20
	defaultFetchMaxWait   = 500 * time.Millisecond
	defaultCommitInterval = 100 * time.Millisecond
	defaultTimeout        = 10 * time.Second
)

// decode reads the driver's options, fills in what is missing and checks what is there.
func decode(from broker.Options) (options, error) {
	var o options
	if err := from.Decode(&o); err != nil {
		return o, err
	}
	setDefault(&o.Acks, "all")
	if o.Idempotence == nil {
		all := o.Acks == "all"
		o.Idempotence = &all
	}
	setDefault(&o.BatchBytes, defaultBatchBytes)
	setDefault(&o.Compression, "none")
	setDefault(&o.FetchMinBytes, 1)
	setDefault(&o.FetchMaxWaitNs, int64(defaultFetchMaxWait))
	setDefault(&o.FetchPartitionBytes, defaultFetchBytes)
	setDefault(&o.Assignor, "range")
	setDefault(&o.CommitIntervalNs, int64(defaultCommitInterval))
	setDefault(&o.Sasl, "plain")
	// A batch holds at least one message, and a fetch at least one batch.
	o.BatchBytes = max(o.BatchBytes, int64(from.MessageBytes)+recordBytes)
	o.FetchPartitionBytes = max(o.FetchPartitionBytes, int64(from.MessageBytes)+recordBytes)

	if _, ok := acks[o.Acks]; !ok {
		return o, fmt.Errorf("driver options: acks %q is none of 0, 1, all", o.Acks)
	}
	if _, ok := codecs[o.Compression]; !ok {
		return o, fmt.Errorf("driver options: compression %q is none of none, gzip, snappy, lz4, zstd", o.Compression)
	}
	if _, ok := balancers[o.Assignor]; !ok {
		return o, fmt.Errorf("driver options: assignor %q is none of range, cooperative-sticky", o.Assignor)
	}
	if *o.Idempotence && o.Acks != "all" {
		return o, fmt.Errorf("driver options: idempotence needs acks all, got %q", o.Acks)
	}
	return o, nil
}

// tls returns what the options say of TLS; nil: there is none.
func (o options) tls() (*tlsOptions, error) {
	switch string(bytes.TrimSpace(o.TLS)) {
	case "", "null", "false":
		return nil, nil
	case "true":
		return &tlsOptions{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(o.TLS))
	decoder.DisallowUnknownFields()
	var t tlsOptions
	if err := decoder.Decode(&t); err != nil {
		return nil, fmt.Errorf("driver options: tls: %w", err)
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("driver options: tls: cert and key belong together, and one is missing")
	}
	return &t, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
