package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// find checks whether existing topics are as the run needs them.
func (s *session) find(ctx context.Context, topics []broker.Topic, names []string) error {
	cluster, err := s.admin.Metadata(ctx, names...)
	if err != nil {
		return fmt.Errorf("kafka: look up topics: %w", err)
	}
	for _, topic := range topics {
		detail := cluster.Topics[topic.Name]
		switch n := len(detail.Partitions); {
		case errors.Is(detail.Err, kerr.UnknownTopicOrPartition):
			return fmt.Errorf("kafka: %w", broker.MissingTopic(topic.Name, "the cluster knows no topic of this name"))
		case detail.Err != nil:
			return fmt.Errorf("kafka: look up topic %q: %w", topic.Name, detail.Err)
		case n != topic.Partitions:
			return fmt.Errorf("kafka: topic %s has %d partitions, and this run expects %d; write partitions: %d", topic.Name, n, topic.Partitions, n)
		}
	}
	if s.Run == "" {
		return nil // client 0 has made them exactly as this client would
	}
	return s.fit(ctx, cluster, names)
}

// Leader is the id of the node that leads the topic's first partition.
func (s *session) Leader(ctx context.Context, topic string) (string, error) {
	cluster, err := s.admin.Metadata(ctx, topic)
	if err != nil {
		return "", fmt.Errorf("kafka: leader of topic %q: %w", topic, err)
	}
	detail := cluster.Topics[topic]
	first, known := detail.Partitions[0]
	switch {
	case detail.Err != nil:
		return "", fmt.Errorf("kafka: leader of topic %q: %w", topic, detail.Err)
	case !known || first.Leader < 0:
		return "", fmt.Errorf("kafka: topic %q has no leader at the moment", topic)
	}
	return strconv.Itoa(int(first.Leader)), nil
}

// --- internal ---

// shownConfigs are the settings of a topic that affect the figures.
var shownConfigs = []string{"max.message.bytes", "min.insync.replicas", "flush.messages", "flush.ms"}

// fit reads the settings of existing topics. It prints those of the first one and makes batches fit all of them. Without the permission to
// read them, a setting that does not fit shows as failed messages.
func (s *session) fit(ctx context.Context, cluster kadm.Metadata, names []string) error {
	s.topicConfig = map[string]string{}
	configs, err := s.admin.DescribeTopicConfigs(ctx, names...)
	if err != nil {
		s.topicConfig["settings"] = "unknown: " + err.Error()
		return nil
	}
	for _, of := range configs {
		for _, one := range of.Configs {
			if of.Name == names[0] {
				for _, key := range shownConfigs {
					if one.Key == key {
						s.topicConfig[key] = one.MaybeValue()
					}
				}
			}
			limit, err := strconv.ParseInt(one.MaybeValue(), 10, 64)
			if one.Key != "max.message.bytes" || err != nil {
				continue
			}
			if least := int64(s.MessageBytes) + recordBytes; limit < least && s.LimitBytes == 0 {
				return fmt.Errorf("kafka: topic %s takes batches of at most %d bytes (max.message.bytes), and one message of the run needs %d", of.Name, limit, least)
			}
			s.own.BatchBytes = max(min(s.own.BatchBytes, limit), int64(s.MessageBytes)+recordBytes)
		}
	}
	s.topicConfig["replicas"] = strconv.Itoa(cluster.Topics[names[0]].Partitions.NumReplicas())
	return nil
}

// begin makes a group on a topic of the user's own start at the topic's end, unless another client of the run has done so. Without it the
// group would read old messages; starting at the end when a member gets its partitions would skip what is sent before that.
func (s *session) begin(ctx context.Context, group, topic string) error {
	begun := func() (bool, error) {
		offsets, err := s.admin.FetchOffsets(ctx, group)
		if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			return false, err
		}
		n := 0
		for _, one := range offsets[topic] {
			if one.Err == nil && one.At >= 0 {
				n++
			}
		}
		return n == s.partitionsOf(topic), nil
	}
	// The first group of a cluster has its coordinator only after seconds, more than the library waits for it.
	var done bool
	err := deadline.Ask(ctx, setUpPoll, func() (again bool, err error) {
		done, err = begun()
		return errors.Is(err, kerr.CoordinatorNotAvailable), err
	})
	if done || err != nil {
		return broker.Wrap(fmt.Sprintf("kafka: look up group %q", group), err)
	}
	ends, err := s.ends(ctx, topic)
	if err != nil {
		return fmt.Errorf("kafka: find the end of topic %q: %w", topic, err)
	}
	err = s.admin.CommitAllOffsets(ctx, group, ends.Offsets())
	if err == nil {
		return nil
	}
	if done, _ := begun(); done {
		return nil // another client was faster and already has a member in the group
	}
	return fmt.Errorf("kafka: begin group %q at the end of its topic: %w", group, err)
}

// shared reports whether the coordinator says that a group has shared out its partitions, and the members here have theirs. The group may
// have members on other clients.
func (s *session) shared(ctx context.Context, g *group, partitions int) bool {
	described, err := s.admin.DescribeGroups(ctx, g.name)
	return err == nil && g.stable(described[g.name], partitions)
}

// stable reports whether the coordinator and the members here agree.
func (g *group) stable(is kadm.DescribedGroup, partitions int) bool {
	if is.Err != nil || is.State != "Stable" {
		return false
	}
	var owned []int
	byMember := map[string]int{}
	for _, m := range is.Members {
		n := 0
		if assigned, ok := m.Assigned.AsConsumer(); ok {
			for _, t := range assigned.Topics {
				n += len(t.Partitions)
			}
		}
		owned = append(owned, n)
		byMember[m.MemberID] = n
	}
	for _, m := range g.members {
		id, _ := m.client.GroupMetadata()
		if n, known := byMember[id]; !known || n != m.partitions() || n > 0 && m.watch.fetches.Load() == 0 {
			return false
		}
	}
	return len(owned) > 0 && sharedOut(owned, partitions)
}

// groupName is the same on all clients of the run.
func (s *session) groupName(topic, group string) string {
	return s.Named(".", topic+"."+group)
}

// groupsToRemove are the groups of this run, which may have had members on other clients only. Only client 0 removes groups.
func (s *session) groupsToRemove() []string {
	if s.Client > 0 {
		return nil
	}
	names := map[string]bool{}
	for _, group := range s.named {
		for _, topic := range s.layout.Topics {
			names[s.groupName(topic.Name, group)] = true
		}
	}
	return slices.Collect(maps.Keys(names))
}
