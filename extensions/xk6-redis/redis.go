// Package redis is the driver for Redis and servers with its protocol (Valkey): pub/sub channels, streams, and lists as queues.
package redis

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

var (
	errNotConnected = errors.New("redis: not connected")
	errUnanswered   = fmt.Errorf("redis: connection lost: %w", broker.ErrUnknown)
	errNobody       = errors.New("a message was published while nobody was subscribed")
)

// queueBytes and queueMost limit the messages that wait to be written on a connection if the plan sets no inFlight.
const (
	queueBytes = 64 << 20
	queueMost  = 65536
)

const leavePoll = 5 * time.Millisecond

// messageFrameBytes is about how much of a message in a channel is neither payload nor the channel's name: *3 $7 message $.. $..
const messageFrameBytes = 32

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	d, err := decode(o)
	all, ofURL := reach(o.URL, d.TLS)
	if err := cmp.Or(err, ofURL); err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	s := &session{
		Base: broker.NewBase("redis", o), driverOptions: d, addresses: all, known: map[string]*redis.Options{}, name: "mqbench-" + rand.Text()[:8],
		queueLength: cmp.Or(int(o.InFlight), min(queueMost, max(64, queueBytes/max(o.MessageBytes, 1)))),
		subscribers: make([][]*subscriber, o.Connections), named: map[string]*topic{}, found: map[string]string{},
	}
	for _, at := range all {
		s.newShard(at)
	}
	return s, nil
}

type session struct {
	*broker.Base
	broker.DropsNothing // we read messages one by one, without the library's channels, which drop
	driverOptions
	// addresses of the URL. known are those of a cluster's nodes by their ids.
	addresses []*redis.Options
	known     map[string]*redis.Options
	// name of this session's connections, and the beginning of its consumers' names.
	name        string
	queueLength int
	// cluster has several shards, and sharded channels unless there are patterns.
	cluster, sharded bool
	shards           []*shard
	// lines are by connection and shard.
	lines  []fan
	topics []*topic
	named  map[string]*topic
	// server with its version, and its settings.
	server string
	found  map[string]string

	// subscribers are by connection.
	subscribers [][]*subscriber
	// consuming guards consumers, and their fields of topics.
	consuming sync.Mutex
	consumers []*consumer
	// fetched is how many messages of groups wait for their turn.
	fetched atomic.Int64
	// running are the consumers of streams and lists.
	running sync.WaitGroup
}

type topic struct {
	name  string
	shard *shard
	// groups of a stream, by their names there.
	groups map[string]bool
	// taken are the lists to which consumers of all clients move a list's messages; free are this session's that no consumer has yet.
	taken, free []string
	// command is the beginning of the one that sends to it.
	command [][]byte
}

var (
	_ broker.Remover      = (*session)(nil)
	_ broker.Holder       = (*session)(nil)
	_ broker.Leaver       = (*session)(nil)
	_ broker.LeaderFinder = (*session)(nil)
)

func (s *session) Open(ctx context.Context) error {
	if err := s.examine(ctx); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	s.lines = make([]fan, s.Connections)
	for i := range s.Connections {
		for _, h := range s.shards {
			l := &line{s: s, shard: h, Link: newLink[*link]()}
			if err := l.Open(ctx, s.Base, l.dial); err != nil {
				// There is one for questions already.
				return fmt.Errorf("redis: %w", broker.Nth(i+1, s.Connections+1, err))
			}
			s.lines[i] = append(s.lines[i], l)
		}
	}
	return nil
}

// Prepare removes the data under the topics' names and makes streams; channels and lists exist by being used.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	s.sharded = s.cluster && !slices.ContainsFunc(layout.Subscriptions, func(to broker.Subscription) bool { return to.Wildcard })
	for _, t := range layout.Topics {
		made := &topic{name: t.Name, groups: map[string]bool{}, command: s.commandTo(t.Name)}
		s.topics = append(s.topics, made)
		s.named[t.Name] = made
	}
	if err := s.locate(ctx); err != nil {
		return fmt.Errorf("redis: find the topics' slots: %w", err)
	}
	if err := s.plan(layout); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	switch {
	case s.Mode == modePubSub:
		return nil
	case s.Run != "":
		return broker.Wrap("redis", s.find(ctx))
	case s.Found():
		return nil
	}
	if err := s.clear(ctx); err != nil || s.Mode == modeLists {
		return broker.Wrap("redis: empty topics", err)
	}
	// A stream that its first group has made stays when the group is gone.
	return broker.Wrap("redis: create streams", s.each(ctx, func(p redis.Pipeliner, t *topic) {
		p.XGroupCreateMkStream(ctx, t.name, s.name, "0")
		p.XGroupDestroy(ctx, t.name, s.name)
	}))
}

func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	switch {
	case s.Mode == modePubSub:
		return nil
	case s.Run != "":
		return broker.Wrap("redis: remove what consumers made", s.leave(ctx))
	case s.Found():
		return nil
	}
	return broker.Wrap("redis: remove topics", s.clear(ctx))
}

func (s *session) Producer(connection int) (broker.Producer, error) { return s.lines[connection], nil }

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	consume := s.read
	if s.Mode == modePubSub {
		consume = s.subscribe
	}
	return broker.Wrap(fmt.Sprintf("redis: consume %q", to.Topic), consume(ctx, to, handle))
}

// Held counts the messages fetched for groups, and the messages of channels in their sockets: subscribers read those one by one. Streams
// and lists are asked for more when all is handled; until then the rest stays with the broker.
func (s *session) Held() (int64, bool) {
	if s.Mode != modePubSub {
		return s.fetched.Load(), true
	}
	var held int64
	for _, r := range slices.Concat(s.subscribers...) {
		k, is := r.link.Now()
		if !is {
			continue
		}
		bytes, known := unread(k.conn)
		if !known {
			return 0, false
		}
		held += int64(bytes / (s.MeanBytes + len(s.topics[0].name) + messageFrameBytes))
	}
	return held, true
}

// Leave lets consumers handle what they have taken, and waits until their acknowledgements are answered: Redis takes nothing back.
func (s *session) Leave(ctx context.Context) error {
	s.Quiet()
	if s.Mode == modePubSub {
		return nil
	}
	err := deadline.While(ctx, func() error { s.running.Wait(); return nil })
	for range 2 { // between its queues, a command is in neither
		err = cmp.Or(err, deadline.Sleep(ctx, leavePoll), deadline.Until(ctx, leavePoll, func() bool {
			return !slices.ContainsFunc(slices.Concat(s.lines...), func(l *line) bool {
				at, is := l.Now()
				return is && len(at.queue)+len(at.unanswered) > 0
			})
		}))
	}
	return broker.Wrap("redis: leave", err)
}

// Close ends the session, and its sockets with it.
func (s *session) Close() error {
	s.End()
	return nil
}

// --- internal ---

// plan refuses a layout that the mode cannot have, and names the lists to which consumers move messages.
func (s *session) plan(layout broker.Layout) error {
	members := func(to broker.Subscription) int { all, _ := layout.Members(to); return all }
	for _, to := range layout.Subscriptions {
		switch t := s.named[to.Topic]; {
		case s.Mode == modePubSub && to.Group != "" && members(to) > 1:
			return fmt.Errorf("consume %q: pub/sub has no groups: %d consumers cannot share a channel; use mode streams or lists", to.Topic, members(to))
		case s.Mode == modePubSub && to.Client == s.Client:
			s.place(to)
		case s.Mode == modeStreams && to.Group != "":
			t.groups[s.Named(".", to.Group)] = true
		case s.Mode == modeLists:
			name := t.name
			if s.cluster && !strings.Contains(name, "{") { // for the same slot
				name = "{" + name + "}"
			}
			taken := fmt.Sprintf("%s.taken.%d", s.Named(".", name), len(t.taken))
			t.taken = append(t.taken, taken)
			if to.Client == s.Client {
				t.free = append(t.free, taken)
			}
		}
	}
	if s.Mode == modeLists {
		return layout.Rivals()
	}
	return nil
}

// find checks whether the user's topics are of the mode's type, and refuses to take messages away. An empty list has no key.
func (s *session) find(ctx context.Context) error {
	kinds := map[*topic]*redis.StatusCmd{}
	if err := s.each(ctx, func(p redis.Pipeliner, t *topic) { kinds[t] = p.Type(ctx, t.name) }); err != nil {
		return fmt.Errorf("look up topics: %w", err)
	}
	want := map[string]string{modeStreams: "stream", modeLists: "list"}[s.Mode]
	for _, t := range s.topics {
		switch name, kind := t.name, kinds[t]; {
		case kind.Val() == "list" && len(t.taken) > 0:
			return fmt.Errorf("consume %q: it holds %d messages, which consumers of this run would take away; empty it first, or name another list",
				name, t.shard.admin.LLen(ctx, name).Val())
		case kind.Val() == want, kind.Val() == "none" && s.Mode == modeLists:
		case kind.Val() == "none":
			return broker.MissingTopic(name, "there is no stream of this key")
		default:
			return fmt.Errorf("topic %s is a key of type %s, and mode %s needs a %s; name another topic, or choose another mode", name, kind.Val(), s.Mode, want)
		}
	}
	return nil
}

// clear removes the data under the topics' names, by any session.
func (s *session) clear(ctx context.Context) error {
	return s.each(ctx, func(p redis.Pipeliner, t *topic) { p.Unlink(ctx, append([]string{t.name}, t.taken...)...) })
}

// leave removes the objects that consumers have made on the user's topics: groups, which clients share and client 0 removes, and the lists
// of taken messages. Messages that were taken and not finished go back, in the old order.
func (s *session) leave(ctx context.Context) error {
	if s.Mode == modeStreams && s.Client > 0 {
		return nil
	}
	if s.Mode == modeStreams {
		err := s.each(ctx, func(p redis.Pipeliner, t *topic) {
			for name := range t.groups {
				p.XGroupDestroy(ctx, t.name, name)
			}
		})
		if refused(err) { // a stream that is gone has no groups
			return nil
		}
		return err
	}
	deadline.AtMost(2*blockFor, s.running.Wait) // a command that waits on the server, and a little more
	for _, c := range s.consumers {
		var err error
		for err == nil {
			err = c.topic.shard.admin.LMove(ctx, c.taken, c.topic.name, "LEFT", "RIGHT").Err()
		}
		if !nothing(err) {
			return err
		}
	}
	return nil
}

func (s *session) each(ctx context.Context, queue func(redis.Pipeliner, *topic)) (first error) {
	for _, h := range s.shards {
		_, err := h.admin.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, t := range s.topics {
				if t.shard == h {
					queue(p, t)
				}
			}
			return nil
		})
		first = cmp.Or(first, err)
	}
	return first
}
