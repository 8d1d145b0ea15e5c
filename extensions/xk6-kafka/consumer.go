package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// consumer is one subscription: a client of its own, as each consumer is in Kafka.
type consumer struct {
	client *kgo.Client
	watch  *watch
	handle broker.Handler
	now    func() int64
	// polled is how many records of a group's poll wait for their turn.
	polled atomic.Int64
	// due tells commit that something was marked.
	due chan struct{}

	mu       sync.Mutex
	assigned int
}

// group is the members that share one topic. Each topic has a consumer group of its own.
type group struct {
	name    string
	topic   string
	members []*consumer
	// begin makes the group start at the end of a topic of the user's own, once.
	begin func() error
}

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	if to.Group != "" {
		return s.join(ctx, to, handle)
	}
	topics := to.Of(s.layout.Topics)
	if len(topics) == 0 {
		return fmt.Errorf("kafka: consume %q: there is no such topic", to.Topic)
	}
	ends, err := s.ends(ctx, topics...)
	if err != nil {
		return fmt.Errorf("kafka: consume %q: find its end: %w", to.Topic, err)
	}
	// The positions are set here, once: everything that is sent from now on lies behind them.
	c, err := s.newConsumer(to, handle, kgo.ConsumePartitions(ends.KOffsets()))
	if err != nil {
		return err
	}
	s.keep(c)
	go c.deliver()
	err = deadline.Until(ctx, setUpPoll, func() bool { return c.watch.fetches.Load() > 0 })
	c.watch.settled.Store(true)
	return broker.Wrap(fmt.Sprintf("kafka: consume %q: no fetch was sent", to.Topic), err)
}

// join makes a member of a topic's group. Nobody knows the members' shares before all members are there, so the last one here waits for that.
func (s *session) join(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	g := s.groupOf(ctx, to)
	if err := g.begin(); err != nil {
		return err
	}
	var of settings
	s.grouping(&of, g.name)
	c, err := s.newConsumer(to, handle, append(of.Options, kgo.ConsumeTopics(to.Topic))...)
	if err != nil {
		return err
	}
	all, here := s.layout.Members(to)
	s.groupsMu.Lock()
	g.members = append(g.members, c)
	last := len(g.members) >= here
	s.groupsMu.Unlock()
	s.keep(c)
	go c.deliverAndCommit(broker.AcknowledgeOf(s.own.Acknowledge, to.Group))
	go c.commit()
	if !last {
		return nil
	}
	partitions := s.partitionsOf(to.Topic)
	if here < all {
		err = deadline.Until(ctx, groupPoll, func() bool { return s.shared(ctx, g, partitions) })
	} else {
		err = deadline.Until(ctx, setUpPoll, func() bool { return g.settled(partitions) })
	}
	for _, m := range g.members {
		m.watch.settled.Store(true)
	}
	return broker.Wrap(fmt.Sprintf("kafka: join group %q: it did not settle", g.name), err)
}

// Held is what the library has fetched and not handed over. It fetches a little ahead: what a consumer that stands still does not ask for
// stays with the broker.
func (s *session) Held() (held int64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.consumers {
		held += c.client.BufferedFetchRecords() + c.polled.Load()
	}
	return held, true
}

// --- internal ---

// setUpPoll is how often we ask the library until a consumer is set up, groupPoll how often we ask the broker.
const (
	setUpPoll = 2 * time.Millisecond
	groupPoll = 20 * time.Millisecond
)

func (s *session) groupOf(ctx context.Context, to broker.Subscription) *group {
	s.groupsMu.Lock()
	defer s.groupsMu.Unlock()
	name := s.groupName(to.Topic, to.Group)
	if g := s.groups[name]; g != nil {
		return g
	}
	g := &group{name: name, topic: to.Topic, begin: func() error { return nil }}
	if s.Run != "" {
		g.begin = sync.OnceValue(func() error { return s.begin(ctx, name, to.Topic) })
	}
	s.groups[name] = g
	if !slices.Contains(s.named, to.Group) {
		s.named = append(s.named, to.Group)
	}
	return g
}

func (s *session) newConsumer(to broker.Subscription, handle broker.Handler, own ...kgo.Opt) (*consumer, error) {
	w := &watch{s: s}
	c := &consumer{watch: w, handle: handle, now: s.Now, due: make(chan struct{}, 1)}
	var of settings
	s.common(&of)
	s.consuming(&of)
	opts := append(append(of.Options, own...), kgo.ClientID(fmt.Sprintf("mqbench-consumer-%d", to.Connection)), kgo.WithHooks(w))
	if to.Group != "" {
		opts = append(opts,
			kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, got map[string][]int32) { c.assign(got, +1) }),
			kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, gone map[string][]int32) {
				// Commit what was handled, so that the next owner does not get it again.
				if err := client.CommitMarkedOffsets(ctx); err != nil {
					w.report(fmt.Errorf("commit: %w", err))
				}
				c.assign(gone, -1)
			}),
			kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) { c.assign(gone, -1) }),
		)
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("kafka: make a consumer: %w", err)
	}
	c.client = client
	return c, nil
}

func (s *session) keep(c *consumer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.consumers = append(s.consumers, c)
}

// deliver hands over what arrives, batch by batch. A batch is received when the library returns it.
func (c *consumer) deliver() {
	ctx := c.client.Context()
	for {
		fetches := c.client.PollFetches(ctx)
		receivedNs := c.now()
		if c.over(fetches) {
			return
		}
		fetches.EachRecord(func(r *kgo.Record) { c.handle(broker.Delivery{ReceivedNs: receivedNs, Payload: r.Value}) })
	}
}

// markEveryNs is the longest time until a message may be committed after a slow handler has returned.
const markEveryNs = int64(10 * time.Millisecond)

// deliverAndCommit hands over messages of a group. A member takes one message at a time from what was fetched; a message that waits in
// the client behind a slow one is not received yet.
func (c *consumer) deliverAndCommit(acknowledge string) {
	ctx := c.client.Context()
	for {
		fetches := c.client.PollRecords(ctx, pollRecords)
		if c.over(fetches) {
			return
		}
		markedNs := c.now()
		c.polled.Store(int64(fetches.NumRecords()))
		fetches.EachPartition(func(of kgo.FetchTopicPartition) {
			var handled *kgo.Record
			for _, r := range of.Records {
				nowNs := c.now()
				if handled != nil && nowNs-markedNs > markEveryNs {
					c.client.MarkCommitRecords(handled)
					markedNs = nowNs
				}
				if c.watch.closing.Load() {
					return
				}
				c.polled.Add(-1)
				c.handle(broker.Delivery{ReceivedNs: nowNs, Payload: r.Value})
				handled = r
				if acknowledge == broker.PerMessage {
					c.client.MarkCommitRecords(r)
					c.wake()
				}
			}
			if handled != nil {
				c.client.MarkCommitRecords(handled)
			}
		})
		if acknowledge == broker.PerBatch {
			c.wake()
		}
	}
}

// commit sends a commit as soon as one is due and the one before is answered; it covers all that was marked meanwhile. Handlers do not wait
// for it, nor do those of other systems for their acknowledgements.
func (c *consumer) commit() {
	ctx := c.client.Context()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.due:
			// What fails here the library commits, every commitInterval.
			_ = c.client.CommitMarkedOffsets(ctx)
		}
	}
}

func (c *consumer) wake() {
	select {
	case c.due <- struct{}{}:
	default:
	}
}

// over reports the errors of a poll, and whether it was the last one.
func (c *consumer) over(fetches kgo.Fetches) bool {
	if len(fetches) == 1 && len(fetches[0].Topics) == 1 && fetches[0].Topics[0].Topic != "" {
		if ps := fetches[0].Topics[0].Partitions; len(ps) == 1 && ps[0].Err == nil {
			return false // by far the most common case, and without allocations
		}
	}
	if fetches.IsClientClosed() || c.watch.closing.Load() {
		return true
	}
	fetches.EachError(func(_ string, _ int32, err error) {
		if !errors.Is(err, context.Canceled) {
			c.watch.report(fmt.Errorf("fetch: %w", err))
		}
	})
	return false
}

func (c *consumer) assign(partitions map[string][]int32, sign int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ps := range partitions {
		c.assigned += sign * len(ps)
	}
}

func (c *consumer) partitions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.assigned
}

// settled reports whether all members are in one generation, the partitions are shared out, and each owner is fetching.
func (g *group) settled(partitions int) bool {
	_, generation := g.members[0].client.GroupMetadata()
	owned := make([]int, len(g.members))
	for i, m := range g.members {
		if _, its := m.client.GroupMetadata(); its < 0 || its != generation {
			return false
		}
		owned[i] = m.partitions()
		if owned[i] > 0 && m.watch.fetches.Load() == 0 {
			return false
		}
	}
	return sharedOut(owned, partitions)
}

// sharedOut reports whether each partition has its final owner. A cooperative rebalance has an intermediate generation in which the first
// member still has all partitions. Each partition has an owner then, but some are about to move, and messages of those that are not
// yet committed would come twice. With both assignors the final shares differ by at most one.
func sharedOut(owned []int, partitions int) bool {
	sum := 0
	for _, n := range owned {
		sum += n
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

// close ends the consumer. It does not wait for its handler, and not long for the broker.
func (c *consumer) close() {
	if c.watch.closing.Swap(true) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if err := c.client.LeaveGroupContext(ctx); err != nil && !errors.Is(err, kerr.UnknownMemberID) {
		c.watch.s.Report("leave the group", err)
	}
	c.client.Close()
}

const leaveTimeout = time.Second
