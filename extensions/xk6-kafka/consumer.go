package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// consumer is one subscription with its own client, like each consumer in Kafka.
type consumer struct {
	*client
	group  string
	handle broker.Handler
	// polled is how many records of a group's poll wait for their turn.
	polled atomic.Int64
	// due wakes commit when something was marked.
	due chan struct{}
	// polling ends with stop, and over is closed when the last record is handled and marked.
	polling context.Context
	stop    context.CancelFunc
	over    chan struct{}
}

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	if to.Group != "" {
		return s.member(ctx, to, handle)
	}
	list := s.admin.ListEndOffsets
	if to.FromStart {
		list = s.admin.ListStartOffsets
	}
	from, err := list(ctx, to.Of(s.layout.Topics)...)
	err = cmp.Or(err, from.Error())
	if err != nil {
		return fmt.Errorf("kafka: consume %q: find where it begins: %w", to.Topic, err)
	}
	// The positions are set here, once: everything that is sent from now on is after its end.
	c, err := s.newConsumer(to, "", handle, func(of *settings) { of.Set("", nil, kgo.ConsumePartitions(from.KOffsets())) })
	if err != nil {
		return err
	}
	go c.deliver()
	err = deadline.Until(ctx, setUpPoll, func() bool { return c.fetches.Load() > 0 })
	c.settled.Store(true)
	return broker.Wrap(fmt.Sprintf("kafka: consume %q: no fetch was sent", to.Topic), err)
}

// member makes a member of a topic's consumer group. Shares are unknown before all members are there, so the last one here waits for that.
func (s *session) member(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	name := s.groupName(to)
	c, err := s.newConsumer(to, name, handle, func(of *settings) {
		s.grouping(of, name)
		of.Set("", nil, kgo.ConsumeTopics(to.Topic))
	})
	if err != nil {
		return err
	}
	go c.deliverInTurn(broker.AcknowledgeOf(s.own.Acknowledge, to.Group))
	if s.competes() {
		go c.commit(c.FlushAcks)
	} else {
		go c.commit(c.CommitMarkedOffsets)
	}
	members := slices.DeleteFunc(s.consumers.All(), func(one *consumer) bool { return one.group != name })
	if _, here := s.layout.Members(to); len(members) < here {
		return nil
	}
	err = deadline.Until(ctx, setUpPoll, func() bool { return s.shared(ctx, name, members, s.partitionsOf(to.Topic)) })
	for _, m := range members {
		m.settled.Store(true)
	}
	return broker.Wrap(fmt.Sprintf("kafka: join group %q: it did not settle", name), err)
}

// Held is how many messages the library has fetched and not handed over: it fetches a little ahead.
func (s *session) Held() (held int64, known bool) {
	for _, c := range s.consumers.All() {
		held += c.BufferedFetchRecords() + c.polled.Load()
	}
	return held, true
}

// --- internal ---

// groupName is another one for a share group, because Kafka keeps an earlier run's group of the other kind.
func (s *session) groupName(to broker.Subscription) string {
	name := s.Named(".", to.Topic+"."+to.Group)
	if s.competes() {
		name += "." + byMessage
	}
	return name
}

// groups are the topics of the run's groups, on all clients, by the group's name.
func (s *session) groups() map[string]string {
	topics := map[string]string{}
	for _, to := range s.layout.Subscriptions {
		if to.Group != "" {
			topics[s.groupName(to)] = to.Topic
		}
	}
	return topics
}

func (s *session) newConsumer(to broker.Subscription, group string, handle broker.Handler, own func(of *settings)) (*consumer, error) {
	client, err := s.connect(fmt.Sprintf("consumer-%d", to.Connection), s.consuming, own)
	if err != nil {
		return nil, err
	}
	c := &consumer{client: client, group: group, handle: handle, due: make(chan struct{}, 1), over: make(chan struct{})}
	c.polling, c.stop = context.WithCancel(client.Context())
	s.consumers.Add(c)
	return c, nil
}

// polls handles records as they arrive, at most `most` at a time (0 means all), and reports errors, until the consumer closes.
func (c *consumer) polls(most int, take func(fetches kgo.Fetches, receivedNs int64)) {
	defer close(c.over)
	for {
		fetches := c.PollRecords(c.polling, most)
		receivedNs := c.s.Now()
		if fetches.IsClientClosed() || c.closing.Load() {
			return
		}
		for _, of := range fetches.Errors() {
			if !errors.Is(of.Err, context.Canceled) {
				c.report(fmt.Errorf("fetch: %w", of.Err))
			}
		}
		take(fetches, receivedNs)
	}
}

// deliver hands over messages as they arrive, batch by batch. A batch is received when the library returns it.
func (c *consumer) deliver() {
	c.polls(0, func(fetches kgo.Fetches, receivedNs int64) {
		fetches.EachRecord(func(r *kgo.Record) { c.handle(broker.Delivery{ReceivedNs: receivedNs, Payload: r.Value}) })
	})
}

// deliverInTurn hands over messages of a group, one at a time: a message that waits in the client behind a slow one is not received yet. Of the
// library's two ways to note that one is handled, the other kind of group ignores Ack or MarkCommitRecords.
func (c *consumer) deliverInTurn(acknowledge string) {
	c.polls(pollRecords, func(fetches kgo.Fetches, _ int64) {
		c.polled.Store(int64(fetches.NumRecords()))
		fetches.EachRecord(func(r *kgo.Record) {
			if c.closing.Load() {
				r.Ack(kgo.AckRelease) // the next poll would accept it
				return
			}
			c.polled.Add(-1)
			c.handle(broker.Delivery{ReceivedNs: c.s.Now(), Payload: r.Value, Redelivered: r.DeliveryCount() > 1})
			r.Ack(kgo.AckAccept)
			c.MarkCommitRecords(r)
			if acknowledge == broker.PerMessage {
				c.wake()
			}
		})
		if acknowledge != broker.PerInterval {
			c.wake()
		}
	})
}

// commit sends a commit as soon as one is due and the one before is answered. Handlers do not wait for it, as with other systems.
func (c *consumer) commit(send func(context.Context) error) {
	ctx := c.Context()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.due:
			// If this fails, the library sends it by itself, a commitInterval or a second later.
			_ = send(ctx)
		}
	}
}

func (c *consumer) wake() {
	select {
	case c.due <- struct{}{}:
	default:
	}
}

// shared reports whether a group, which may have members on other clients, has shared out its partitions, and the members here fetch theirs.
func (s *session) shared(ctx context.Context, name string, members []*consumer, partitions int) bool {
	owned := s.owned(ctx, name)
	for _, m := range members {
		id, _ := m.GroupMetadata()
		n, known := owned[id]
		if s.competes() { // the library does not tell the ids, and every member has a partition
			n, known = 1, true
		}
		if !known || n > 0 && m.fetches.Load() == 0 {
			return false
		}
	}
	return len(owned) >= len(members) && sharedOut(slices.Collect(maps.Values(owned)), partitions, s.competes())
}

// owned is how many partitions each member of a group has; nil if the group is about to change.
func (s *session) owned(ctx context.Context, name string) map[string]int {
	owned := map[string]int{}
	switch s.own.GroupProtocol {
	case byMessage:
		return s.ownedByMessage(ctx, name)
	case byBroker:
		described, err := s.admin.DescribeConsumerGroups(ctx, name)
		group := described[name]
		if err != nil || group.Err != nil || group.State != "Stable" {
			return nil
		}
		for _, m := range group.Members {
			owned[m.MemberID] = 0
			for _, partitions := range m.Assignment {
				owned[m.MemberID] += len(partitions)
			}
		}
		return owned
	}
	described, err := s.admin.DescribeGroups(ctx, name)
	group := described[name]
	if err != nil || group.Err != nil || group.State != "Stable" {
		return nil
	}
	for _, m := range group.Members {
		owned[m.MemberID] = 0
		if assigned, ok := m.Assigned.AsConsumer(); ok {
			for _, t := range assigned.Topics {
				owned[m.MemberID] += len(t.Partitions)
			}
		}
	}
	return owned
}

// sharedOut reports whether each partition has its final owner. In a cooperative rebalance's first generation one member still has all partitions, and
// messages of those about to move would come twice. With both assignors the final shares differ by at most one. In a share group each partition has
// a member, or several, and each member a partition.
func sharedOut(owned []int, partitions int, competing bool) bool {
	sum := 0
	for _, n := range owned {
		sum += n
	}
	if competing {
		return sum >= partitions && slices.Min(owned) > 0
	}
	return sum == partitions && slices.Max(owned)-slices.Min(owned) <= 1
}

func (s *session) partitionsOf(name string) int {
	for _, topic := range s.layout.Topics {
		if topic.Name == name {
			return topic.Partitions
		}
	}
	return 0
}

// close ends the consumer. It does not wait long for its handler, nor for the broker.
func (c *consumer) close() {
	if c.closing.Swap(true) {
		return
	}
	c.stop()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	// A record that is handled and not marked would come again.
	select {
	case <-c.over:
	case <-time.After(leaveTimeout / 2):
	}
	if err := c.LeaveGroupContext(ctx); err != nil && !errors.Is(err, kerr.UnknownMemberID) {
		c.s.Report("leave the group", err)
	}
	c.Close()
}
