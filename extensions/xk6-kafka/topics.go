package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/mqbench/mqbench/extensions/xk6-kafka/franz"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// Prepare makes the topics, in place of an earlier run's, or checks the user's.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	s.layout = layout
	cluster, err := s.admin.Metadata(ctx, layout.Names()...)
	if err != nil {
		return fmt.Errorf("kafka: look up topics: %w", err)
	}
	var there []string
	for _, topic := range layout.Topics {
		detail := cluster.Topics[topic.Name]
		switch n := len(detail.Partitions); {
		case errors.Is(detail.Err, kerr.UnknownTopicOrPartition) && s.Found():
			return fmt.Errorf("kafka: %w", broker.MissingTopic(topic.Name, "the cluster knows no topic of this name"))
		case errors.Is(detail.Err, kerr.UnknownTopicOrPartition):
		case detail.Err != nil:
			return fmt.Errorf("kafka: look up topic %q: %w", topic.Name, detail.Err)
		case s.Found() && n != topic.Partitions:
			return fmt.Errorf("kafka: topic %s has %d partitions, and this run expects %d; write partitions: %d", topic.Name, n, topic.Partitions, n)
		default:
			there = append(there, topic.Name)
		}
	}
	switch {
	case s.Run != "":
		return s.join(ctx, cluster)
	case s.Client > 0:
		return nil // client 0 has made them exactly as this client would
	}
	// With a topic, Kafka forgets how far groups have read it.
	if err := s.remove(ctx, there); err != nil {
		return fmt.Errorf("kafka: remove topics of an earlier run: %w", err)
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	if err := s.setGroups(ctx, kmsg.IncrementalAlterConfigOpSet); err != nil {
		return err
	}
	return s.awaitLeaders(ctx)
}

// Remove takes the consumers out of their groups, which have to be empty first, and removes groups and topics. Only client 0 removes groups.
func (s *session) Remove(ctx context.Context) error {
	deadline.AtMost(closeTimeout, deadline.Steps(s.consumers.All(), (*consumer).close)...)
	var groups error
	if names := slices.Collect(maps.Keys(s.groups())); s.Client == 0 && len(names) > 0 {
		asked, cancel := context.WithTimeout(ctx, closeTimeout)
		defer cancel()
		// A dead connection to a restarted node only shows when it is used, and where the coordinator has just gone members are still on their way
		// out.
		groups = deadline.Ask(asked, removePoll, func() (again bool, err error) {
			removed, err := s.admin.DeleteGroups(asked, names...)
			for _, one := range removed {
				if one.Err != nil && !errors.Is(one.Err, kerr.GroupIDNotFound) {
					err = fmt.Errorf("group %q: %w", one.Group, one.Err)
				}
			}
			return true, err
		})
		groups = errors.Join(groups, s.setGroups(asked, kmsg.IncrementalAlterConfigOpDelete))
	}
	return errors.Join(broker.Wrap("kafka: remove groups", groups), broker.Wrap("kafka: remove topics", s.remove(ctx, s.made)))
}

// Leader is the id of the node that leads the topic's first partition.
func (s *session) Leader(ctx context.Context, topic string) (string, error) {
	cluster, err := s.admin.Metadata(ctx, topic)
	if err = cmp.Or(err, cluster.Topics[topic].Err); err != nil {
		return "", fmt.Errorf("kafka: leader of topic %q: %w", topic, err)
	}
	first, known := cluster.Topics[topic].Partitions[0]
	if !known || first.Leader < 0 {
		return "", fmt.Errorf("kafka: topic %q has no leader at the moment", topic)
	}
	return strconv.Itoa(int(first.Leader)), nil
}

// --- internal ---

const (
	// setUpPoll is how often we ask whether something is set up, removePoll whether it is gone.
	setUpPoll  = 10 * time.Millisecond
	removePoll = 200 * time.Millisecond
	// goneTimeout is how long a broker that may be gone has to answer.
	goneTimeout = time.Second
	// flushMs is the setting of level "interval".
	flushMs = "1000"
)

// never is how Kafka writes that it does not flush by itself: the largest number.
var never = strconv.FormatInt(math.MaxInt64, 10)

// topicConfig is the configuration of new topics: limits that fit the messages, and the topic's part of a durability level.
func topicConfig(o broker.Options, own options) map[string]string {
	// The limit applies to a batch, which holds at least one message.
	most := own.BatchBytes + topicBytes
	switch {
	case own.MessageMaxBytes > 0:
		most = own.MessageMaxBytes
	case o.LimitBytes > 0:
		most = batchBytes(o.LimitBytes)
	}
	config := map[string]string{"max.message.bytes": strconv.FormatInt(most, 10)}
	if own.MinInsyncReplicas > 0 {
		config["min.insync.replicas"] = strconv.Itoa(own.MinInsyncReplicas)
	}
	maps.Copy(config, flushes[o.Durability])
	return config
}

var flushes = map[string]map[string]string{
	"memory":   {"flush.messages": never, "flush.ms": never},
	"os":       {"flush.messages": never, "flush.ms": never},
	"interval": {"flush.messages": never, "flush.ms": flushMs},
	"fsync":    {"flush.messages": "1", "flush.ms": never},
}

// checkFlusher refuses brokers that ignore a topic's flush.ms, which is Kafka's default.
func (s *session) checkFlusher(ctx context.Context, brokers ...int32) error {
	const key = "log.flush.scheduler.interval.ms"
	configs, err := s.admin.DescribeBrokerConfigs(ctx, brokers...)
	if err != nil {
		return fmt.Errorf("kafka: durability interval: read the brokers' %s: %w", key, err)
	}
	for _, b := range configs {
		for _, c := range b.Configs {
			if c.Key == key && c.MaybeValue() == never {
				return fmt.Errorf("kafka: durability interval: broker %s never looks whether a flush is due; set %s=%s in its server.properties", b.Name, key, flushMs)
			}
		}
	}
	return nil
}

// shownConfigs are the settings of a topic that affect the figures.
var shownConfigs = []string{"max.message.bytes", "min.insync.replicas", "flush.messages", "flush.ms"}

// join makes the run fit the user's topics: it prints the settings of the first one and makes batches fit all of them. Without the
// permission to read settings, a batch that does not fit shows as failed messages. The run's groups start at the topics' ends: without that
// they would read old messages, and starting there when a member gets its partitions would skip messages that are sent before that.
func (s *session) join(ctx context.Context, cluster kadm.Metadata) error {
	s.topicConfig = map[string]string{}
	names := s.layout.Names()
	configs, err := s.admin.DescribeTopicConfigs(ctx, names...)
	if err != nil {
		s.topicConfig["settings"] = "unknown: " + err.Error()
	} else {
		s.topicConfig["replicas"] = strconv.Itoa(cluster.Topics[names[0]].Partitions.NumReplicas())
	}
	for _, of := range configs {
		for _, one := range of.Configs {
			if of.Name == names[0] && slices.Contains(shownConfigs, one.Key) {
				s.topicConfig[one.Key] = one.MaybeValue()
			}
			limit, err := strconv.ParseInt(one.MaybeValue(), 10, 64)
			if one.Key != "max.message.bytes" || err != nil {
				continue
			}
			least := int64(s.MessageBytes) + recordBytes
			if limit < least && s.LimitBytes == 0 {
				return fmt.Errorf("kafka: topic %s takes batches of at most %d bytes (max.message.bytes), and one message of the run needs %d", of.Name, limit, least)
			}
			s.own.BatchBytes = max(min(s.own.BatchBytes, limit), least)
		}
	}
	if s.Client > 0 {
		return nil // client 0 has done the rest
	}
	if err := s.setGroups(ctx, kmsg.IncrementalAlterConfigOpSet); err != nil {
		return err
	}
	for group, topic := range s.groups() {
		ends, err := s.ends(ctx, topic)
		if err != nil {
			return fmt.Errorf("kafka: find the end of topic %q: %w", topic, err)
		}
		// The first group of a cluster has its coordinator only after seconds, more than the library waits for it.
		err = deadline.Ask(ctx, setUpPoll, func() (again bool, err error) {
			if s.competes() {
				altered, alterErr := s.admin.AlterShareGroupOffsets(ctx, group, ends.Offsets())
				err = cmp.Or(alterErr, altered.Error())
			} else {
				err = s.admin.CommitAllOffsets(ctx, group, ends.Offsets())
			}
			return errors.Is(err, kerr.CoordinatorNotAvailable), err
		})
		if err != nil {
			return fmt.Errorf("kafka: begin group %q at the end of its topic: %w", group, err)
		}
	}
	return nil
}

func (s *session) create(ctx context.Context) error {
	replicas := int16(cmp.Or(s.Replicas, -1))
	config := map[string]*string{}
	for key, value := range s.topicConfig {
		config[key] = &value
	}
	byPartitions := map[int][]string{}
	for _, topic := range s.layout.Topics {
		byPartitions[topic.Partitions] = append(byPartitions[topic.Partitions], topic.Name)
	}
	for partitions, names := range byPartitions {
		created, err := s.admin.CreateTopics(ctx, int32(partitions), replicas, config, names...)
		if err != nil {
			return fmt.Errorf("kafka: create topics: %w", err)
		}
		for _, c := range created {
			if c.Err != nil && !errors.Is(c.Err, kerr.TopicAlreadyExists) { // a second try may find them made
				return fmt.Errorf("kafka: create topic %q: %w%s", c.Topic, c.Err, franz.Because(c.ErrMessage))
			}
			s.made = append(s.made, c.Topic)
		}
	}
	return nil
}

// remove returns when no broker has the topics any more. A second try may find them gone.
func (s *session) remove(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	err := deadline.Ask(ctx, removePoll, func() (again bool, err error) {
		removed, err := s.admin.DeleteTopics(ctx, names...)
		if err != nil {
			return true, err
		}
		if err = removed.Error(); errors.Is(err, kerr.UnknownTopicOrPartition) {
			err = nil
		}
		return false, err
	})
	if err != nil {
		return err
	}
	return s.awaitTopics(ctx, names, false, func(topic kmsg.MetadataResponseTopic) error {
		if topic.ErrorCode != kerr.UnknownTopicOrPartition.Code {
			return errors.New("it is still there")
		}
		return nil
	})
}

// ends returns the offsets behind the last message of each partition. If one cannot be read, all fail.
func (s *session) ends(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	ends, err := s.admin.ListEndOffsets(ctx, topics...)
	return ends, cmp.Or(err, ends.Error())
}

func (s *session) awaitLeaders(ctx context.Context) error {
	err := s.awaitTopics(ctx, s.layout.Names(), true, func(topic kmsg.MetadataResponseTopic) error {
		ready, wanted := 0, s.partitionsOf(*topic.Topic)
		for _, p := range topic.Partitions {
			if p.ErrorCode == 0 && p.Leader >= 0 && len(p.ISR) == len(p.Replicas) {
				ready++
			}
		}
		if topic.ErrorCode == 0 && ready < wanted {
			return fmt.Errorf("%d of %d partitions have a leader and all replicas in sync", ready, wanted)
		}
		return kerr.ErrorForCode(topic.ErrorCode)
	})
	if err != nil {
		return fmt.Errorf("kafka: the topics get no leaders: %w", err)
	}
	// Only a leader answers this, so an answer shows that the broker itself has become one.
	return broker.Wrap("kafka: ask the topics' leaders", deadline.Ask(ctx, setUpPoll, func() (bool, error) {
		_, err := s.ends(ctx, s.layout.Names()...)
		return kerr.IsRetriable(err), err
	}))
}

// awaitTopics returns when every broker has applied a change: `missing` returns an error for a topic without it. It waits for lost brokers if needed.
func (s *session) awaitTopics(ctx context.Context, names []string, needed bool, missing func(kmsg.MetadataResponseTopic) error) error {
	request := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		request.Topics = append(request.Topics, topic)
	}
	return deadline.Ask(ctx, setUpPoll, func() (again bool, err error) {
		cluster, err := s.admin.BrokerMetadata(ctx)
		if err != nil {
			return false, err
		}
		for _, b := range cluster.Brokers {
			asked, cancel := context.WithTimeout(ctx, goneTimeout)
			response, err := s.asks.Broker(int(b.NodeID)).Request(asked, request)
			cancel()
			if err != nil && needed {
				return true, err
			}
			if err != nil {
				continue
			}
			for _, topic := range response.(*kmsg.MetadataResponse).Topics {
				if err := missing(topic); err != nil {
					return true, fmt.Errorf("node %d says of topic %q: %w", b.NodeID, *topic.Topic, err)
				}
			}
		}
		return false, nil
	})
}
