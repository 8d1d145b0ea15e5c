// Package redis is the driver for Redis and what speaks its protocol (Valkey): pub/sub channels, streams, and lists as
// queues.
package redis

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

var (
	errNotConnected = errors.New("redis: not connected")
	errUnanswered   = errors.New("redis: connection lost before the answer")
	errClosed       = errors.New("redis: the session is closed")
	errNobody       = errors.New("a message was published while nobody was subscribed")
)

// queueBytes and queueMost bound what waits to be written on a connection, where the plan sets no inFlight.
const (
	queueBytes = 64 << 20
	queueMost  = 65536
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	d, err := decode(o)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	at, err := address(o.URL, d.TLS)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	s := &session{
		options: o, driverOptions: d, mode: d.Mode, address: at, name: "mqbench-" + random(),
		command:     map[string]string{modePubSub: "PUBLISH", modeStreams: "XADD", modeLists: "LPUSH"}[d.Mode],
		queueLength: int(o.InFlight),
		sockets:     map[*socket]struct{}{},
		groups:      map[string]*group{},
		quiet:       func() {},

		connectTimeout: connectTimeout,
	}
	if s.queueLength == 0 {
		s.queueLength = min(queueMost, max(64, queueBytes/max(o.MessageBytes, 1)))
	}
	s.over, s.end = context.WithCancel(context.Background())
	return s, nil
}

type session struct {
	options broker.Options
	driverOptions
	mode, command string
	address       *redis.Options
	// name of this session's connections, and the beginning of its consumers' names.
	name           string
	queueLength    int
	connectTimeout time.Duration
	lines          []*line
	topics         []*topic
	server         map[string]string
	reconnects     atomic.Int64
	// over is done once the session is closed.
	over context.Context
	end  context.CancelFunc
	// removed: what consumers read is gone, and their errors say nothing.
	removed atomic.Bool

	mu      sync.Mutex
	closed  bool
	sockets map[*socket]struct{}
	// admin carries what is not measured.
	adminMu sync.Mutex
	admin   *socket

	// Consume fills these in, from one goroutine.
	subscribers [][]*subscriber
	groups      map[string]*group
	consumers   int
	// quiet ends the signs of life.
	quiet func()
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
	_ broker.Producer = (*producer)(nil)
)

func (s *session) Open(ctx context.Context) error {
	if err := s.examine(ctx); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	for range s.options.Connections {
		k, err := s.dial(ctx, 0)
		if err != nil {
			return fmt.Errorf("redis: %w", err)
		}
		l := &line{s: s}
		l.current.Store(newLink(s, k))
		s.lines = append(s.lines, l)
		go l.run(k)
	}
	s.subscribers = make([][]*subscriber, s.options.Connections)
	return nil
}

// Prepare removes what may be there under the names of the topics, and makes streams; channels and lists exist by being used.
func (s *session) Prepare(ctx context.Context, topics []broker.Topic) error {
	for _, t := range topics {
		if t.Partitions > 1 {
			return fmt.Errorf("redis: topic %q is to have %d partitions; a channel, stream or list of Redis has one", t.Name, t.Partitions)
		}
		s.topics = append(s.topics, s.describeTopic(t.Name))
	}
	if err := s.clear(ctx); err != nil {
		return fmt.Errorf("redis: empty topics: %w", err)
	}
	if s.mode != modeStreams {
		return nil
	}
	// A stream that is made by its first group stays when that is gone.
	for _, t := range s.topics {
		err := s.ask(ctx, func(k *socket) error {
			if err := k.client.XGroupCreateMkStream(ctx, t.name, s.name, "0").Err(); err != nil {
				return err
			}
			return k.client.XGroupDestroy(ctx, t.name, s.name).Err()
		})
		if err != nil {
			return fmt.Errorf("redis: create stream %q: %w", t.name, err)
		}
	}
	return nil
}

func (s *session) Remove(ctx context.Context) error {
	s.removed.Store(true)
	s.quiet()
	if err := s.clear(ctx); err != nil {
		return fmt.Errorf("redis: remove topics: %w", err)
	}
	return nil
}

func (s *session) Producer(connection int) (broker.Producer, error) {
	return &producer{line: s.lines[connection]}, nil
}

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	var err error
	switch {
	case s.mode == modePubSub && to.Group != "" && to.Members > 1:
		err = fmt.Errorf("pub/sub has no groups: %d consumers cannot share a channel; use mode streams or lists", to.Members)
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

// Describe: the answer to PUBLISH is no acknowledgement. It tells to how many connections the message was handed over inside
// of the server, which is 0 as gladly as 1, and promises that none of them gets it. An error instead of it, or none, fails
// the message all the same.
func (s *session) Describe() broker.Description {
	return broker.Description{
		Acks:      s.mode != modePubSub,
		Order:     "per-producer",
		Wildcards: s.mode == modePubSub,
		Stores:    s.mode != modePubSub,
		Library:   "go-redis v" + redis.Version(),
		Server:    s.server["name"],
		Settings:  s.settings(),
	}
}

// Dropped: nothing is; received messages are read one by one, without the library's channels, which drop.
func (s *session) Dropped() int64 { return 0 }

func (s *session) Reconnects() int64 { return s.reconnects.Load() }

func (s *session) Close() error {
	s.end()
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

// examine asks the server what it is, and refuses what this driver cannot measure.
func (s *session) examine(ctx context.Context) error {
	var info string
	err := s.ask(ctx, func(k *socket) (err error) {
		info, err = k.client.Info(ctx, "server").Result()
		return err
	})
	if err != nil {
		return err
	}
	facts := map[string]string{}
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			facts[key] = value
		}
	}
	version := facts["redis_version"]
	s.server = map[string]string{"name": "redis-server " + version}
	if valkey := facts["valkey_version"]; valkey != "" {
		s.server["name"] = "valkey-server " + valkey
	}
	if mode := facts["redis_mode"]; mode != "" && mode != "standalone" {
		return fmt.Errorf("the server runs as %s; mqbench measures one Redis server, no cluster and no sentinels", mode)
	}
	if least := map[string]string{modeStreams: "5.0", modeLists: "6.2"}[s.mode]; least != "" && older(version, least) {
		return fmt.Errorf("mode %s needs Redis %s or newer; the server is %s", s.mode, least, s.server["name"])
	}
	// Some services forbid CONFIG: then nobody knows.
	for _, key := range []string{"appendonly", "appendfsync", "save", "client-output-buffer-limit"} {
		value := "unknown: CONFIG GET is refused"
		_ = s.ask(ctx, func(k *socket) error {
			found, err := k.client.ConfigGet(ctx, key).Result()
			if err == nil {
				value = strconv.Quote(found[key])
			}
			return err
		})
		s.server[key] = value
	}
	return nil
}

func (s *session) settings() map[string]string {
	set := map[string]string{
		"mode":             s.mode,
		"connections":      strconv.Itoa(s.options.Connections),
		"consumers":        "a socket of their own for each subscription (pub/sub: shared by channels of one connection)",
		"protocol":         "RESP" + strconv.Itoa(protocol),
		"pipeline":         "what is queued, in writes of up to " + strconv.Itoa(bufferBytes) + " bytes; the next write does not wait for answers; no timer",
		"queueLength":      strconv.Itoa(s.queueLength) + " commands waiting and as many unanswered per connection; then Send blocks",
		"dialTimeout":      connectTimeout.String(),
		"readTimeout":      "none: an answer is waited for",
		"writeTimeout":     "none",
		"maxRetries":       "-1 (none)",
		"reconnectWait":    reconnectWait.String(),
		"readBufferBytes":  strconv.Itoa(bufferBytes),
		"writeBufferBytes": strconv.Itoa(bufferBytes),
		"poolSize":         "1, never dialled anew by the library",
		"tls":              strconv.FormatBool(s.address.TLSConfig != nil),
		"db":               strconv.Itoa(s.address.DB),

		"server appendonly":  s.server["appendonly"],
		"server appendfsync": s.server["appendfsync"],
		"server save":        s.server["save"],
	}
	switch s.mode {
	case modePubSub:
		set["send"] = "PUBLISH; its answer is no acknowledgement"
		set["consume"] = "SUBSCRIBE, PSUBSCRIBE"
		set["server client-output-buffer-limit"] = s.server["client-output-buffer-limit"]
	case modeStreams:
		set["send"] = "XADD"
		set["maxLength"] = "0 (streams are not trimmed)"
		if *s.MaxLength > 0 {
			set["maxLength"] = fmt.Sprintf("MAXLEN ~ %d: a consumer that is further behind loses messages", *s.MaxLength)
		}
		set["consume"] = "without a group XREAD; in a group XREADGROUP, XACK after each message"
	case modeLists:
		set["send"] = "LPUSH"
		set["consume"] = "BLMOVE to a list of the consumer's own (LMOVE for more while there is more), LREM after each message"
	}
	if s.mode != modePubSub {
		set["prefetch"] = strconv.Itoa(s.Prefetch)
		set["claimAfter"] = time.Duration(s.ClaimAfterNs).String()
	}
	return set
}

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

// clear removes what is stored under the names of the topics, by whichever session.
func (s *session) clear(ctx context.Context) error {
	if s.mode == modePubSub {
		return nil
	}
	keys := []string{s.aliveKey()}
	for _, t := range s.topics {
		keys = append(keys, t.name)
		if s.mode == modeStreams {
			continue
		}
		keys = append(keys, membersOf(t.name))
		var members []string
		err := s.ask(ctx, func(k *socket) (err error) {
			members, err = k.client.SMembers(ctx, membersOf(t.name)).Result()
			return err
		})
		if err != nil {
			return err
		}
		for _, member := range members {
			keys = append(keys, takenBy(t.name, member))
		}
	}
	for some := range slices.Chunk(keys, 500) {
		err := s.ask(ctx, func(k *socket) error { return k.client.Unlink(ctx, some...).Err() })
		if err != nil {
			return err
		}
	}
	return nil
}

// ask runs commands that are not measured, one caller at a time, on a connection that is made anew when it broke.
func (s *session) ask(ctx context.Context, commands func(*socket) error) error {
	s.adminMu.Lock()
	defer s.adminMu.Unlock()
	if s.admin == nil {
		k, err := s.dial(ctx, commandTimeout)
		if err != nil {
			return err
		}
		s.admin = k
	}
	err := commands(s.admin)
	if err != nil && !refused(err) && !errors.Is(err, redis.Nil) {
		s.drop(s.admin)
		s.admin = nil
	}
	return err
}

func (s *session) report(err error) {
	if s.options.OnError != nil && s.over.Err() == nil && !s.removed.Load() {
		s.options.OnError(fmt.Errorf("redis: %w", err))
	}
}

func random() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// older compares the first two numbers of versions; what cannot be read is not older.
func older(version, least string) bool {
	var a, b, x, y int
	if n, _ := fmt.Sscanf(version, "%d.%d", &a, &b); n != 2 {
		return false
	}
	_, _ = fmt.Sscanf(least, "%d.%d", &x, &y)
	return a < x || a == x && b < y
}
