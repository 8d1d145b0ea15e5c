// Package franz has the options of franz-go that the driver and k6/x/kafka share.
package franz

import (
	"context"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Acks by the acknowledgements that a producer waits for. "-1" is Kafka's other word for "all".
var Acks = map[string]kgo.Acks{"0": kgo.NoAck(), "1": kgo.LeaderAck(), "all": kgo.AllISRAcks(), "-1": kgo.AllISRAcks()}

// Codecs by their names.
var Codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(),
	"zstd": kgo.ZstdCompression(),
}

// Because is the broker's addition to an error.
func Because(message string) string {
	if message == "" {
		return ""
	}
	return " (" + strings.TrimSuffix(message, ".") + ")"
}

// Ready makes a client with our Partitioner look up topics and connect to the brokers, so the first message is as fast as the thousandth.
func Ready(ctx context.Context, client *kgo.Client, topics ...string) error {
	lookUps := make([]*kgo.Record, len(topics))
	for i, topic := range topics {
		lookUps[i] = &kgo.Record{Topic: topic, Partition: nowhere}
	}
	for _, of := range client.ProduceSync(ctx, lookUps...) {
		if !strings.Contains(of.Err.Error(), "invalid record partitioning choice") {
			return fmt.Errorf("look up topic %q: %w", of.Record.Topic, of.Err)
		}
	}
	if err := client.EnsureProduceConnectionIsOpen(ctx); err != nil {
		return fmt.Errorf("connect for sending: %w", err)
	}
	return nil
}

// AnyPartition is the partition of records for which Partitioner's own decides.
const AnyPartition = -1

// Partitioner uses a record's partition, where it has one: one that is not there fails the record. Its own may wait for OnNewBatch to go to another
// partition; one that chooses by backlog (TopicBackupPartitioner) does not work in it.
type Partitioner struct{ kgo.Partitioner }

// ForTopic is for the library.
func (p Partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	own := topicPartitioner{p.Partitioner.ForTopic(topic)}
	if sticky, is := own.TopicPartitioner.(kgo.TopicPartitionerOnNewBatch); is {
		return struct {
			topicPartitioner
			kgo.TopicPartitionerOnNewBatch
		}{own, sticky}
	}
	return own
}

// --- internal ---

// nowhere is a partition that no topic has: its record fails in the client, after the topic's metadata has arrived.
const nowhere = -2

type topicPartitioner struct{ kgo.TopicPartitioner }

func (p topicPartitioner) RequiresConsistency(r *kgo.Record) bool {
	return r.Partition != AnyPartition || p.TopicPartitioner.RequiresConsistency(r)
}

func (p topicPartitioner) Partition(r *kgo.Record, n int) int {
	if r.Partition != AnyPartition {
		return int(r.Partition)
	}
	return p.TopicPartitioner.Partition(r, n)
}
