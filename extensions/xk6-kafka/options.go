package kafka

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// options are the driver's own, as runner/brokers/kafka/index.ts writes them. The default is that of Kafka's Java client unless a comment
// here says otherwise.
type options struct {
	// Acks that a producer waits for: "all" (the default, as Kafka's), "1" (the leader's) or "0" (none).
	Acks string `json:"acks"`
	// Idempotence; nil: true with acks "all", as Kafka's.
	Idempotence *bool `json:"idempotence"`
	// LingerNs is how long a batch waits for more messages. Default 0, as Kafka's own until version 3; since 4 that is 5 ms.
	LingerNs int64 `json:"lingerNs"`
	// BatchBytes is the largest batch. Default 1 MiB, so that it does not hold up a fast producer; Kafka's is 16 KiB.
	BatchBytes int64 `json:"batchBytes"`
	// MessageMaxBytes is the largest batch that the server has been told to take (message.max.bytes); 0: nobody has told it.
	MessageMaxBytes int64  `json:"messageMaxBytes"`
	Compression     string `json:"compression"`
	// MinInsyncReplicas of the topics; 0: the broker's own.
	MinInsyncReplicas int `json:"minInsyncReplicas"`

	FetchMinBytes       int64 `json:"fetchMinBytes"`
	FetchMaxWaitNs      int64 `json:"fetchMaxWaitNs"`
	FetchPartitionBytes int64 `json:"fetchPartitionBytes"`

	// Assignor shares out partitions to the members of a group: "range" (the default, as Kafka's) or "cooperative-sticky".
	Assignor string `json:"assignor"`
	// Acknowledge is when a member commits: message (the default), batch or interval.
	Acknowledge string `json:"acknowledge"`
	// CommitIntervalNs is how often it does so at least. Kafka's default is 5 s.
	CommitIntervalNs int64 `json:"commitIntervalNs"`

	// Sasl is how the URL's user logs in: "plain" (the default), "scram-sha-256" or "scram-sha-512".
	Sasl string `json:"sasl"`
	// TLS; a URL kafkas:// turns it on, too.
	TLS address.TLS `json:"tls"`
}

const (
	// recordBytes is more than a batch of one record adds to its payload: 61 for the batch, 21 for the record, and the key.
	recordBytes = 512
	// topicBytes is how much more a topic accepts than the largest batch.
	topicBytes = 64 << 10

	defaultBatchBytes     = 1 << 20
	defaultFetchBytes     = 1 << 20
	defaultFetchMaxWait   = 500 * time.Millisecond
	defaultCommitInterval = broker.AcknowledgeInterval
	defaultTimeout        = 10 * time.Second
)

// batchBytes is a batch of one record, uncompressed and without a key.
func batchBytes(payload int) int64 {
	number := func(n int) int { return len(binary.AppendVarint(nil, int64(n))) }
	record := 5 + number(payload) + payload
	return int64(61 + number(record) + record)
}

// decode reads the driver's options, fills in defaults and checks values.
func decode(from broker.Options) (options, error) {
	o := options{
		Acks: "all", BatchBytes: defaultBatchBytes, Compression: "none", FetchMinBytes: 1,
		FetchPartitionBytes: defaultFetchBytes, Assignor: "range", CommitIntervalNs: int64(defaultCommitInterval), Sasl: "plain",
	}
	if err := from.Decode(&o); err != nil {
		return o, err
	}
	o.FetchMaxWaitNs = cmp.Or(o.FetchMaxWaitNs, int64(defaultFetchMaxWait)) // without a wait, consumers would poll all the time
	all := o.Acks == "all"
	o.Idempotence = cmp.Or(o.Idempotence, &all)
	if o.MessageMaxBytes > 0 {
		o.BatchBytes = min(o.BatchBytes, o.MessageMaxBytes)
	}
	// A batch holds at least one message, and a fetch at least one batch.
	o.BatchBytes = max(o.BatchBytes, int64(from.MessageBytes)+recordBytes)
	o.FetchPartitionBytes = max(o.FetchPartitionBytes, int64(from.MessageBytes)+recordBytes)
	err := broker.Choose(
		broker.Choice{Name: "acks", Value: o.Acks, Known: slices.Sorted(maps.Keys(acks))},
		broker.Choice{Name: "compression", Value: o.Compression, Known: slices.Sorted(maps.Keys(codecs))},
		broker.Choice{Name: "assignor", Value: o.Assignor, Known: slices.Sorted(maps.Keys(balancers))},
		broker.Choice{Name: "acknowledge", Value: o.Acknowledge, Known: []string{"", broker.PerMessage, broker.PerBatch, broker.PerInterval}},
		broker.Choice{Name: "sasl", Value: o.Sasl, Known: slices.Sorted(maps.Keys(mechanisms))},
	)
	if err == nil && *o.Idempotence && o.Acks != "all" {
		err = fmt.Errorf("driver options: idempotence needs acks all, got %q", o.Acks)
	}
	return o, err
}

// reach returns the options that tell clients how to reach the brokers of kafka://user:password@host:9092,host:9092 (kafkas:// for
// TLS). It does not print secrets.
func reach(url string, o options) (func(to *settings), error) {
	at, config, err := address.ParseSecure(url, o.TLS, address.Scheme{Name: "kafka", Port: "9092"}, address.Scheme{Name: "kafkas", Port: "9092"})
	if err != nil {
		return nil, err
	}
	return func(to *settings) {
		to.Set("tls", false, kgo.SeedBrokers(at.Hosts...))
		if config != nil {
			to.Set("tls", true, kgo.DialTLSConfig(config))
		}
		if config != nil && o.TLS.Insecure {
			to.Set("tls", "true (any certificate is trusted)")
		}
		to.Set("sasl", "none")
		if at.User != "" {
			to.Set("sasl", o.Sasl, kgo.SASL(mechanisms[o.Sasl](at.User, at.Password)))
		}
	}, nil
}

// --- internal ---

var mechanisms = map[string]func(user, password string) sasl.Mechanism{
	"plain": func(user, password string) sasl.Mechanism {
		return plain.Auth{User: user, Pass: password}.AsMechanism()
	},
	"scram-sha-256": func(user, password string) sasl.Mechanism {
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	},
	"scram-sha-512": func(user, password string) sasl.Mechanism {
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	},
}
