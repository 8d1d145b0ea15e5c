// Package kafka is the driver for Apache Kafka, with franz-go. Each connection that sends is a client, and so is each subscription, as
// every consumer is in Kafka.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	own, err := decode(o)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	reach, err := reach(o.URL, own)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	topic, err := topicConfig(o, own)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return &session{
		Base: broker.NewBase("kafka", o), Throttle: broker.NewThrottle(o.Now), own: own, reach: reach, topicConfig: topic,
		producers: map[int]*producer{}, groups: map[string]*group{},
	}, nil
}

type session struct {
	*broker.Base
	*broker.Throttle
	own         options
	reach       func(to *settings)
	topicConfig map[string]string

	adminWatch *watch
	adminRaw   *kgo.Client
	admin      *kadm.Client
	server     string
	layout     broker.Layout
	made       []string
	// until is when the set-up has to be over.
	until time.Time
	// groupsMu guards groups, their members and named.
	groupsMu sync.Mutex
	groups   map[string]*group
	// named has the groups of consumers here, by the subscription's name for them.
	named []string

	// mu guards what Close removes from another goroutine.
	mu        sync.Mutex
	producers map[int]*producer
	consumers []*consumer
}

var (
	_ broker.Session      = (*session)(nil)
	_ broker.Remover      = (*session)(nil)
	_ broker.Dropper      = (*session)(nil)
	_ broker.Holder       = (*session)(nil)
	_ broker.LeaderFinder = (*session)(nil)
	_ broker.Throttler    = (*session)(nil)

	_ broker.ConcurrentConsumer = (*session)(nil)
)

// Open finds the cluster. Producer and Consume make their own connections and return when these are usable.
func (s *session) Open(ctx context.Context) error {
	s.until, _ = ctx.Deadline()
	var of settings
	s.common(&of)
	s.adminWatch = &watch{s: s}
	client, err := kgo.NewClient(append(of.Options, kgo.ClientID("mqbench-admin"), kgo.WithHooks(s.adminWatch))...)
	if err != nil {
		return fmt.Errorf("kafka: make a client: %w", err)
	}
	s.adminRaw, s.admin = client, kadm.NewClient(client)
	if err := client.Ping(ctx); err != nil {
		return fmt.Errorf("kafka: connect: %w", err)
	}
	versions, err := s.admin.ApiVersions(ctx)
	if err != nil {
		return fmt.Errorf("kafka: ask for the version: %w", err)
	}
	s.adminWatch.settled.Store(true)
	s.server = "Kafka"
	for _, v := range versions {
		if v.Err == nil {
			// The protocol has no version of the server: the library concludes it from the requests that it takes.
			s.server = "Kafka " + strings.TrimPrefix(v.VersionGuess(), "v") + " (guessed from its protocol)"
			break
		}
	}
	if s.Durability == "interval" {
		return s.checkFlusher(ctx)
	}
	return nil
}

// Prepare makes the topics and returns when every broker knows their leaders.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	s.layout = layout
	topics, names := layout.Topics, layout.Names()
	byPartitions := map[int][]string{}
	if s.Found() {
		return s.find(ctx, topics, names)
	}
	if err := s.clear(ctx, topics, names); err != nil {
		return err
	}
	for _, topic := range topics {
		if !slices.Contains(byPartitions[topic.Partitions], topic.Name) {
			byPartitions[topic.Partitions] = append(byPartitions[topic.Partitions], topic.Name)
		}
	}
	for partitions, some := range byPartitions {
		if err := s.create(ctx, partitions, some); err != nil {
			return err
		}
	}
	if err := s.awaitLeaders(ctx, names); err != nil {
		return err
	}
	for _, p := range s.producers {
		if err := p.ready(ctx, topics); err != nil {
			return err
		}
	}
	return nil
}

// Remove takes the consumers out of their groups, which have to be empty first, and removes groups and topics.
func (s *session) Remove(ctx context.Context) error {
	s.mu.Lock()
	consumers := s.consumers
	s.mu.Unlock()
	var ends []func()
	for _, c := range consumers {
		ends = append(ends, c.close)
	}
	deadline.AtMost(closeTimeout, ends...)
	var errs []error
	if groups := s.groupsToRemove(); len(groups) > 0 {
		removed, err := s.removeGroups(ctx, groups)
		if err != nil {
			errs = append(errs, fmt.Errorf("kafka: remove groups: %w", err))
		}
		for _, one := range removed {
			if one.Err != nil && !errors.Is(one.Err, kerr.GroupIDNotFound) {
				errs = append(errs, fmt.Errorf("kafka: remove group %q: %w", one.Group, one.Err))
			}
		}
	}
	if len(s.made) > 0 {
		removed, err := tried(ctx, func() (kadm.DeleteTopicResponses, error) { return s.admin.DeleteTopics(ctx, s.made...) })
		if err == nil {
			err = removed.Error()
		}
		// A second try may find them gone.
		if errors.Is(err, kerr.UnknownTopicOrPartition) {
			err = nil
		}
		if err == nil {
			err = s.awaitGone(ctx, s.made)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("kafka: remove topics: %w", err))
		}
	}
	return errors.Join(errs...)
}

// removeGroups removes those that are empty. Where the coordinator has just gone, members are still on their way out.
func (s *session) removeGroups(ctx context.Context, groups []string) (kadm.DeleteGroupResponses, error) {
	until := time.Now().Add(closeTimeout)
	for {
		removed, err := tried(ctx, func() (kadm.DeleteGroupResponses, error) { return s.admin.DeleteGroups(ctx, groups...) })
		full := false
		for _, one := range removed {
			full = full || errors.Is(one.Err, kerr.NonEmptyGroup)
		}
		if err != nil || !full || time.Now().After(until) {
			return removed, err
		}
		if deadline.Sleep(ctx, 200*time.Millisecond) != nil {
			return removed, nil
		}
	}
}

func (s *session) Producer(connection int) (broker.Producer, error) {
	p, err := s.newProducer(connection)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.producers[connection] = p
	s.mu.Unlock()
	limit := max(time.Until(s.until), readyTimeout+time.Duration(len(s.layout.Topics))*readyTimeoutEach)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err = p.ready(ctx, s.layout.Topics)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("connection %d is not ready within %s: %w", connection+1, limit.Round(time.Second), err)
		// The library asks again by itself and keeps the refusals.
		asked, cancel := context.WithTimeout(context.Background(), goneTimeout)
		defer cancel()
		if refused := s.awaitLeaders(asked, s.layout.Names()); refused != nil {
			err = fmt.Errorf("%w; %w", err, refused)
		}
	}
	p.watch.settled.Store(true)
	return p, err
}

// ConsumesAtOnce: a stock broker lets each group wait 3 s for members (group.initial.rebalance.delay.ms).
func (s *session) ConsumesAtOnce() int { return 64 }

func (s *session) Describe() broker.Description {
	var of settings
	s.common(&of)
	s.producing(&of)
	s.consuming(&of)
	if len(s.groups) > 0 {
		s.grouping(&of, "")
	}
	of.Set("topic replicas", "the broker's own")
	if s.Replicas > 0 {
		of.Set("topic replicas", s.Replicas)
	}
	for key, value := range s.topicConfig {
		of.Set("topic "+key, value)
	}
	of.Set("connections", s.Connections)
	of.Set("confirm", map[string]string{"0": "none", "1": "each batch, by the leader", "all": "each batch, by all replicas in sync"}[s.own.Acks])
	of.Set("flush", fmt.Sprintf("at once, up to %d requests on their way to a broker", requestsInFlight))
	of.Set("batching", fmt.Sprintf("what waits for a partition, linger %s, up to %d bytes", time.Duration(s.own.LingerNs), s.own.BatchBytes))
	of.Set("acknowledgeAlone", "none: reads from a position of its own")
	of.Set("acknowledgeInGroup", map[string]string{
		broker.PerMessage:  "a commit after each message, as soon as the one before is answered",
		broker.PerBatch:    "a commit after each poll",
		broker.PerInterval: "a commit every " + time.Duration(s.own.CommitIntervalNs).String(),
	}[broker.AcknowledgeOf(s.own.Acknowledge, "g")])
	of.Set("prefetch", fmt.Sprintf("a fetch ahead, up to %d bytes of a partition", s.own.FetchPartitionBytes))
	return broker.Description{
		Acks:            s.own.Acks != "0",
		Order:           "per-producer",
		GroupOrder:      true,
		Wildcards:       true,
		Stores:          true,
		RedeliversAfter: sessionTimeout,
		Library:         "franz-go " + broker.LibraryVersion("github.com/twmb/franz-go"),
		Server:          s.server,
		Settings:        of.Printed,
	}
}

// Dropped is 0: the library throws nothing away. What it cannot send fails.
func (s *session) Dropped() int64 { return 0 }

// Close ends everything at once. What blocks on a silent broker ends in the background.
func (s *session) Close() error {
	s.End()
	s.mu.Lock()
	consumers, producers := s.consumers, s.producers
	s.mu.Unlock()
	var ends []func()
	for _, p := range producers {
		ends = append(ends, p.client.Close)
	}
	for _, c := range consumers {
		ends = append(ends, c.close)
	}
	if s.adminRaw != nil {
		ends = append(ends, s.adminRaw.Close)
	}
	deadline.AtMost(closeTimeout, ends...)
	return nil
}

// --- internal ---

// closeTimeout limits how long a silent broker can delay us.
const closeTimeout = 5 * time.Second

// never is how Kafka writes that it does not flush by itself: the largest number.
var never = strconv.FormatInt(math.MaxInt64, 10)

// flushMs is the setting of level "interval".
const flushMs = "1000"

// topicConfig is the configuration of new topics: limits that fit the messages, and the topic's part of a durability level.
func topicConfig(o broker.Options, own options) (map[string]string, error) {
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
	switch o.Durability {
	case "":
	case "memory", "os":
		config["flush.messages"], config["flush.ms"] = never, never
	case "interval":
		config["flush.messages"], config["flush.ms"] = never, flushMs
	case "fsync":
		config["flush.messages"], config["flush.ms"] = "1", never
	default:
		return nil, fmt.Errorf("durability must be memory, os, interval or fsync, got %q", o.Durability)
	}
	return config, nil
}

// checkFlusher refuses brokers that ignore a topic's flush.ms, which is Kafka's default.
func (s *session) checkFlusher(ctx context.Context) error {
	const key = "log.flush.scheduler.interval.ms"
	cluster, err := s.admin.BrokerMetadata(ctx)
	if err != nil {
		return fmt.Errorf("kafka: durability interval: find the brokers: %w", err)
	}
	configs, err := s.admin.DescribeBrokerConfigs(ctx, cluster.Brokers.NodeIDs()...)
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

func (s *session) create(ctx context.Context, partitions int, names []string) error {
	replicas := int16(-1)
	if s.Replicas > 0 {
		replicas = int16(s.Replicas)
	}
	config := map[string]*string{}
	for key, value := range s.topicConfig {
		config[key] = &value
	}
	created, err := s.admin.CreateTopics(ctx, int32(partitions), replicas, config, names...)
	if err != nil {
		return fmt.Errorf("kafka: create topics: %w", err)
	}
	for _, c := range created {
		switch {
		case c.Err == nil:
			s.made = append(s.made, c.Topic)
		case errors.Is(c.Err, kerr.TopicAlreadyExists): // empty: clear has made sure
		default:
			return fmt.Errorf("kafka: create topic %q: %w%s", c.Topic, c.Err, because(c.ErrMessage))
		}
	}
	return nil
}

// clear removes topics that hold messages or have a different number of partitions, with the groups that read them, because new messages
// must not count as read. Empty topics stay: another session may be about to use them.
func (s *session) clear(ctx context.Context, topics []broker.Topic, names []string) error {
	cluster, err := s.admin.Metadata(ctx, names...)
	if err != nil {
		return fmt.Errorf("kafka: look up topics: %w", err)
	}
	var known, used []string
	for _, topic := range topics {
		detail := cluster.Topics[topic.Name]
		switch {
		case errors.Is(detail.Err, kerr.UnknownTopicOrPartition):
		case detail.Err != nil:
			return fmt.Errorf("kafka: look up topic %q: %w", topic.Name, detail.Err)
		case len(detail.Partitions) != topic.Partitions:
			used = append(used, topic.Name)
		default:
			known = append(known, topic.Name)
		}
	}
	if len(known) > 0 {
		ends, err := s.ends(ctx, known...)
		if err != nil {
			return fmt.Errorf("kafka: look whether topics are empty: %w", err)
		}
		for topic, partitions := range ends {
			for _, end := range partitions {
				if end.Offset > 0 {
					used = append(used, topic)
					break
				}
			}
		}
	}
	if len(used) == 0 {
		return nil
	}
	removed, err := s.admin.DeleteTopics(ctx, used...)
	if err == nil {
		err = removed.Error()
	}
	if err != nil {
		return fmt.Errorf("kafka: remove topics of an earlier run: %w", err)
	}
	if err := s.awaitGone(ctx, used); err != nil {
		return err
	}
	listed, err := s.admin.ListGroups(ctx)
	if err != nil {
		return fmt.Errorf("kafka: list groups: %w", err)
	}
	var groups []string
	for _, name := range listed.Groups() {
		if slices.ContainsFunc(used, func(topic string) bool { return strings.HasPrefix(name, topic+".") }) {
			groups = append(groups, name)
		}
	}
	if len(groups) > 0 {
		if _, err := s.admin.DeleteGroups(ctx, groups...); err != nil {
			return fmt.Errorf("kafka: remove groups of an earlier run: %w", err)
		}
	}
	return nil
}

// ends returns the offsets behind the last message of each partition. If one cannot be read, all fail.
func (s *session) ends(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	ends, err := s.admin.ListEndOffsets(ctx, topics...)
	if err == nil {
		err = ends.Error()
	}
	return ends, err
}

// tried asks up to three times, because a dead connection to a restarted node only shows when it is used. Only for requests that may be
// carried out twice.
func tried[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	answer, err := ask()
	for tries := 1; err != nil && tries < 3 && ctx.Err() == nil; tries++ {
		answer, err = ask()
	}
	return answer, err
}

// awaitTopics returns when every broker reports the expected state of every topic: they hear of changes one after the other. It waits for
// a broker that is gone only if all are needed.
func (s *session) awaitTopics(ctx context.Context, names []string, what string, needed bool, holds func(kmsg.MetadataResponseTopic) bool) error {
	request := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		request.Topics = append(request.Topics, topic)
	}
	return broker.Wrap("kafka: "+what, deadline.Ask(ctx, metadataPoll, func() (again bool, err error) {
		cluster, err := s.admin.BrokerMetadata(ctx)
		if err != nil {
			return false, err
		}
		for _, b := range cluster.Brokers {
			response, err := s.ask(ctx, int(b.NodeID), needed, request)
			if err != nil && needed {
				return false, err
			}
			if err != nil {
				continue
			}
			for _, topic := range response.(*kmsg.MetadataResponse).Topics {
				if !holds(topic) {
					return true, fmt.Errorf("node %d says of topic %q: %s", b.NodeID, *topic.Topic, stateOf(topic))
				}
			}
		}
		return false, nil
	}))
}

// stateOf a topic is what awaitTopics waits for to change.
func stateOf(topic kmsg.MetadataResponseTopic) string {
	if err := kerr.ErrorForCode(topic.ErrorCode); err != nil {
		return err.Error()
	}
	ready := 0
	for _, p := range topic.Partitions {
		if p.ErrorCode == 0 && p.Leader >= 0 && len(p.ISR) == len(p.Replicas) {
			ready++
		}
	}
	return fmt.Sprintf("%d of %d partitions have a leader and all replicas in sync", ready, len(topic.Partitions))
}

// metadataPoll is how often brokers are asked for a change that all of them have to hear of.
const metadataPoll = 10 * time.Millisecond

// goneTimeout is how long a broker that may be gone has to answer.
const goneTimeout = time.Second

func (s *session) ask(ctx context.Context, node int, needed bool, request *kmsg.MetadataRequest) (kmsg.Response, error) {
	if needed {
		return s.adminRaw.Broker(node).RetriableRequest(ctx, request)
	}
	ctx, cancel := context.WithTimeout(ctx, goneTimeout)
	defer cancel()
	return s.adminRaw.Broker(node).Request(ctx, request)
}

func (s *session) awaitGone(ctx context.Context, names []string) error {
	return s.awaitTopics(ctx, names, "removed topics do not go", false, func(topic kmsg.MetadataResponseTopic) bool {
		return topic.ErrorCode == kerr.UnknownTopicOrPartition.Code
	})
}

func (s *session) awaitLeaders(ctx context.Context, names []string) error {
	err := s.awaitTopics(ctx, names, "the topics get no leaders", true, func(topic kmsg.MetadataResponseTopic) bool {
		for _, p := range topic.Partitions {
			if p.ErrorCode != 0 || p.Leader < 0 || len(p.ISR) < len(p.Replicas) {
				return false
			}
		}
		return topic.ErrorCode == 0 && len(topic.Partitions) == s.partitionsOf(*topic.Topic)
	})
	if err != nil {
		return err
	}
	// Only a leader answers this, so it shows that the brokers themselves know what they lead.
	return broker.Wrap("kafka: ask the topics' leaders", deadline.Ask(ctx, metadataPoll, func() (bool, error) {
		_, err := s.ends(ctx, names...)
		return kerr.IsRetriable(err), err
	}))
}

func because(message string) string {
	if message == "" {
		return ""
	}
	return " (" + strings.TrimSuffix(message, ".") + ")"
}
