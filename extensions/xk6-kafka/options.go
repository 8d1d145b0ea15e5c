package kafka

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/mqbench/mqbench/extensions/xk6-kafka/franz"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/kafka/index.ts describes and writes them. The defaults are those of Kafka's Java client, except for
// lingerNs (its: 5 ms since version 4), batchBytes (16 KiB, which holds up a fast producer) and commitIntervalNs (5 s).
type options struct {
	Acks string `json:"acks" known:"all 1 0"`
	// Idempotence; nil means true with acks "all", like Kafka's default.
	Idempotence *bool `json:"idempotence"`
	LingerNs    int64 `json:"lingerNs"`
	BatchBytes  int64 `json:"batchBytes"`
	// MessageMaxBytes is the server's message.max.bytes, the largest batch that it takes; 0 if not set.
	MessageMaxBytes int64  `json:"messageMaxBytes"`
	Compression     string `json:"compression" known:"none gzip snappy lz4 zstd"`
	Partitioner     string `json:"partitioner" known:"in-turn sticky"`
	// MinInsyncReplicas of the topics; 0 means the broker's default.
	MinInsyncReplicas   int    `json:"minInsyncReplicas"`
	FetchMinBytes       int64  `json:"fetchMinBytes"`
	FetchMaxWaitNs      int64  `json:"fetchMaxWaitNs"`
	FetchPartitionBytes int64  `json:"fetchPartitionBytes"`
	Assignor            string `json:"assignor" known:"range cooperative-sticky"`
	GroupProtocol       string `json:"groupProtocol" known:"classic consumer share"`
	SessionTimeoutNs    int64  `json:"sessionTimeoutNs"`
	// Prefetch of a share group; 0 means the default, whole batches of about pollRecords.
	Prefetch int `json:"prefetch"`
	// TransactionNs is when a transaction ends at the latest; 0 means that there is none. It has TransactionMessages, unless they are 0.
	TransactionNs       int64  `json:"transactionNs"`
	TransactionMessages int    `json:"transactionMessages"`
	Acknowledge         string `json:"acknowledge" known:"message batch interval"`
	CommitIntervalNs    int64  `json:"commitIntervalNs"`
	Sasl                string `json:"sasl" known:"plain scram-sha-256 scram-sha-512 oauthbearer aws-msk-iam"`
	// TokenURL and Scope are for oauthbearer.
	TokenURL string      `json:"tokenUrl"`
	Scope    string      `json:"scope"`
	TLS      address.TLS `json:"tls"`
}

const (
	sticky = "sticky"
	// recordBytes is more than a batch of one record adds to its payload: 61 for the batch, 21 for the record, and the key.
	recordBytes = 512
	// topicBytes is how much more a topic accepts than the largest batch.
	topicBytes     = 64 << 10
	defaultTimeout = 10 * time.Second
)

// batchBytes is a batch of one record, uncompressed and without a key.
func batchBytes(payload int) int64 {
	number := func(n int) int { return len(binary.AppendVarint(nil, int64(n))) }
	record := 5 + number(payload) + payload
	return int64(61 + number(record) + record)
}

func decode(from broker.Options) (options, error) {
	o := defaults
	if err := from.Decode(&o); err != nil {
		return o, err
	}
	o.FetchMaxWaitNs = cmp.Or(o.FetchMaxWaitNs, defaults.FetchMaxWaitNs) // without a wait, consumers would poll all the time
	all := o.Acks == "all"
	o.Idempotence = cmp.Or(o.Idempotence, &all)
	if o.MessageMaxBytes > 0 {
		o.BatchBytes = min(o.BatchBytes, o.MessageMaxBytes)
	}
	// A batch holds at least one message, and a fetch at least one batch.
	o.BatchBytes = max(o.BatchBytes, int64(from.MessageBytes)+recordBytes)
	o.FetchPartitionBytes = max(o.FetchPartitionBytes, int64(from.MessageBytes)+recordBytes)
	return o, nil
}

// login is how all clients of a session log in; nil if they do not.
func (o options) login(at address.Address) (sasl.Mechanism, error) {
	switch {
	case at.User == "" && o.Sasl == "oauthbearer":
		return nil, errors.New("sasl oauthbearer needs the client's id and secret in the URL, as its user and password")
	case at.User == "" && o.Sasl != franz.IAM:
		return nil, nil
	}
	return franz.Logins[o.Sasl](franz.Account{User: at.User, Password: at.Password, TokenURL: o.TokenURL, Scope: o.Scope}), nil
}
