// Package redis is the driver for Redis and servers with its protocol (Valkey): pub/sub channels, streams, and lists as queues.
package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

var (
	errNotConnected = errors.New("redis: not connected")
	errUnanswered   = fmt.Errorf("redis: connection lost: %w", broker.ErrUnknown)
	errClosed       = errors.New("redis: the session is closed")
	errNobody       = errors.New("a message was published while nobody was subscribed")
)

// queueBytes and queueMost limit what waits to be written on a connection if the plan sets no inFlight.
const (
	queueBytes = 64 << 20
	queueMost  = 65536
)

// messageFrameBytes: about as much of a message in a channel is neither payload nor the channel's name: *3 $7 message $.. $..
const messageFrameBytes = 32

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	d, err := decode(o)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	at, err := reach(o.URL, d.TLS)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	s := &session{
		Base: broker.NewBase("redis", o), driverOptions: d, mode: d.Mode, address: at, name: "mqbench-" + rand.Text()[:8],
		command:     map[string]string{modePubSub: "PUBLISH", modeStreams: "XADD", modeLists: "LPUSH"}[d.Mode],
		queueLength: int(o.InFlight),
		sockets:     map[*socket]struct{}{},
		groups:      map[string]*group{},
		named:       map[string]*topic{},

		connectTimeout: connectTimeout,
	}
	if s.queueLength == 0 {
		s.queueLength = min(queueMost, max(64, queueBytes/max(o.MessageBytes, 1)))
	}
	return s, nil
}

type session struct {
	*broker.Base
	driverOptions
	mode, command string
	address       *redis.Options
	// name of this session's connections, and the beginning of its consumers' names.
	name           string
	queueLength    int
	connectTimeout time.Duration
	lines          []*line
	topics         []*topic
	named          map[string]*topic
	server         map[string]string

	mu      sync.Mutex
	closed  bool
	sockets map[*socket]struct{}
	// admin carries requests that are not measured.
	adminMu sync.Mutex
	admin   *socket

	// Consume fills these in; consuming guards them.
	consuming   sync.Mutex
	subscribers [][]*subscriber
	groups      map[string]*group
	consumers   int
	// fetched is how many messages of groups wait for their turn.
	fetched atomic.Int64
	// members are the consumers of lists; running counts all that run.
	members []*consumer
	running sync.WaitGroup
}

type topic struct {
	name string
	// plain and keyed are the beginnings of the command that sends to it, without and with a key.
	plain, keyed []byte
	// added is how many entries the stream was sent by this session so far.
	added   atomic.Int64
	trimmed sync.Once
}

type producer struct{ line *line }

var (
	_ broker.Session  = (*session)(nil)
	_ broker.Remover  = (*session)(nil)
	_ broker.Dropper  = (*session)(nil)
	_ broker.Holder   = (*session)(nil)
	_ broker.Producer = (*producer)(nil)

	_ broker.ConcurrentConsumer = (*session)(nil)
)

func (s *session) Open(ctx context.Context) error {
	if err := s.examine(ctx); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	for i := range s.Connections {
		k, err := s.dial(ctx, 0)
		if err != nil {
			// There is one for questions already.
			return fmt.Errorf("redis: %w", broker.Nth(i+1, s.Connections+1, err))
		}
		l := &line{s: s}
		l.current.Store(newLink(s, k))
		s.lines = append(s.lines, l)
		go l.run(k)
	}
	s.subscribers = make([][]*subscriber, s.Connections)
	return nil
}

// Prepare removes what is stored under the topics' names and makes streams; channels and lists exist by being used.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	for _, to := range layout.Subscriptions {
		if all, _ := layout.Members(to); s.mode == modePubSub && to.Group != "" && all > 1 {
			return fmt.Errorf("redis: consume %q: pub/sub has no groups: %d consumers cannot share a channel; use mode streams or lists", to.Topic, all)
		}
	}
	for _, t := range layout.Topics {
		if t.Partitions > 1 {
			return fmt.Errorf("redis: topic %q should have %d partitions; a channel, stream or list of Redis has one", t.Name, t.Partitions)
		}
		made := s.describeTopic(t.Name)
		s.topics = append(s.topics, made)
		s.named[t.Name] = made
	}
	if s.Found() {
		return broker.Wrap("redis", s.find(ctx))
	}
	if err := s.clear(ctx); err != nil {
		return fmt.Errorf("redis: empty topics: %w", err)
	}
	if s.mode != modeStreams {
		return nil
	}
	// A stream that its first group has made stays when the group is gone.
	err := s.each(ctx, func(p redis.Pipeliner, t *topic) {
		p.XGroupCreateMkStream(ctx, t.name, s.name, "0")
		p.XGroupDestroy(ctx, t.name, s.name)
	})
	if err != nil {
		return fmt.Errorf("redis: create streams: %w", err)
	}
	return nil
}

func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	if s.Found() {
		return broker.Wrap("redis: remove what consumers made", s.leave(ctx))
	}
	return broker.Wrap("redis: remove topics", s.clear(ctx))
}

func (s *session) Producer(connection int) (broker.Producer, error) {
	return &producer{line: s.lines[connection]}, nil
}

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	var err error
	switch {
	case s.mode == modePubSub:
		err = s.subscribe(ctx, to, handle)
	case to.Wildcard:
		err = fmt.Errorf("mode %s has no patterns; use mode pubsub", s.mode)
	case s.mode == modeStreams:
		err = s.readStream(ctx, to, handle)
	default:
		err = s.popList(ctx, to, handle)
	}
	if err != nil {
		return fmt.Errorf("redis: consume %q: %w", to.Topic, err)
	}
	return nil
}

func (s *session) ConsumesAtOnce() int { return 64 }

// Dropped is 0: we read messages one by one, without the library's channels, which drop.
func (s *session) Dropped() int64 { return 0 }

// Held is what was fetched for groups, and what channels have in their sockets: subscribers read those one by one. Streams and lists are
// asked for more when all is handled; until then it stays with the broker.
func (s *session) Held() (int64, bool) {
	if s.mode != modePubSub {
		return s.fetched.Load(), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var held int64
	for k := range s.sockets {
		if k.pubsub == nil {
			continue
		}
		bytes, known := unread(k.conn)
		if !known {
			return 0, false
		}
		held += int64(bytes / (s.MessageBytes + len(s.topics[0].name) + messageFrameBytes))
	}
	return held, true
}

func (s *session) Close() error {
	s.End()
	s.mu.Lock()
	s.closed = true
	open := slices.Collect(maps.Keys(s.sockets))
	s.mu.Unlock()
	for _, k := range open {
		k.close()
	}
	return nil
}

func (p *producer) Send(m *broker.Message, done broker.Done) {
	p.line.send(entry{m: m, done: done})
}

// --- internal ---

func (s *session) describeTopic(name string) *topic {
	t := &topic{name: name}
	switch {
	case s.mode != modeStreams:
		t.plain = prefix(1, s.command, name)
	case *s.MaxLength == 0:
		t.plain, t.keyed = prefix(2, s.command, name, "*"), prefix(4, s.command, name, "*")
	default:
		args := []string{s.command, name, "MAXLEN", "~", strconv.FormatInt(*s.MaxLength, 10), "*"}
		t.plain, t.keyed = prefix(2, args...), prefix(4, args...)
	}
	return t
}

// added notes an entry more in a stream.
func (s *session) added(topic int) { s.topics[topic].added.Add(1) }
