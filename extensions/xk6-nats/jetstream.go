package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	// dedupWindow is the server's default: how long it remembers ids.
	dedupWindow = 2 * time.Minute
	// headerBytes is the size of a header with an id: "NATS/1.0\r\nNats-Msg-Id: ...\r\n\r\n".
	headerBytes = 64
	apiTimeout  = 10 * time.Second
	// answerTimeout is how long a request waits for its answer before it is repeated; removeTimeout is the same at the end, when there is
	// less time.
	answerTimeout = 3 * time.Second
	removeTimeout = 1500 * time.Millisecond
)

// jetStreamSession is a session of JetStream. Its topics are streams of one subject each, or subjects of existing streams.
type jetStreamSession struct {
	*connections
	storage jetstream.StorageType
	// js is the library's view of JetStream, one for each connection.
	js        []jetstream.JetStream
	producers []*producer
	// made has the names of the streams that Prepare has made; streams has those of all topics, and subjects what they are published to, by
	// number.
	made     []string
	streams  map[string]location
	subjects []string
	// storedAs describes the existing streams, for people.
	storedAs string
	// consumersMu guards consumers, which a connection that was replaced reads, and made.
	consumersMu sync.Mutex
	consumers   []consumer
	deliveries  *deliveries
	// over: consumers end because we remove them.
	over atomic.Bool
}

var (
	_ broker.Session      = (*jetStreamSession)(nil)
	_ broker.Remover      = (*jetStreamSession)(nil)
	_ broker.Dropper      = (*jetStreamSession)(nil)
	_ broker.Holder       = (*jetStreamSession)(nil)
	_ broker.LeaderFinder = (*jetStreamSession)(nil)

	_ broker.ConcurrentConsumer = (*jetStreamSession)(nil)
)

func newJetStream(c *connections) (*jetStreamSession, error) {
	s := &jetStreamSession{
		connections: c, storage: jetstream.FileStorage, producers: make([]*producer, c.Connections), streams: map[string]location{},
	}
	switch {
	case c.own.Storage == "file" && c.Durability == "memory",
		c.own.Storage == "memory" && c.Durability != "" && c.Durability != "memory":
		return nil, fmt.Errorf("nats: storage %s contradicts durability %s", c.own.Storage, c.Durability)
	case c.own.Storage == "memory", c.Durability == "memory":
		s.storage = jetstream.MemoryStorage
	}
	for i := range s.producers {
		s.producers[i] = newProducer(s)
	}
	s.deliveries = &deliveries{CustomDialer: c.dialer}
	c.dialer = s.deliveries
	c.lost = func(connection int) {
		s.deliveries.uncertain.Store(true)
		go s.producers[connection].disconnected()
	}
	c.reconnected = s.reconnected
	return s, nil
}

func (s *jetStreamSession) Open(ctx context.Context) error {
	bytes := 0
	if s.own.Dedup {
		bytes = headerBytes + len(s.Run)
	}
	if err := s.open(bytes); err != nil {
		return err
	}
	for i, connection := range s.all {
		js, err := jetstream.New(connection, s.producers[i].options()...)
		if err != nil {
			return fmt.Errorf("nats: open JetStream: %w", err)
		}
		s.producers[i].js = js
		s.js = append(s.js, js)
	}
	err := s.permitted(ctx, func(ctx context.Context) error {
		return patiently(ctx, func(ctx context.Context) error {
			_, err := s.js[0].AccountInfo(ctx)
			return err
		})
	})
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return errors.New("nats: the server has no JetStream: start it with -js, or use mode core")
	} else if err != nil {
		return fmt.Errorf("nats: ask for JetStream: %w", err)
	}
	return nil
}

// Held is what the library has read and not handed over. Nobody can count what is encrypted.
func (s *jetStreamSession) Held() (held int64, known bool) {
	taken := s.deliveries.taken.Load()
	return s.deliveries.read.Load() - taken, !s.deliveries.uncertain.Load() && !s.all[0].TLSRequired()
}

// Prepare makes a stream for each topic. It removes a stream of that name from an earlier run, with its consumers.
func (s *jetStreamSession) Prepare(ctx context.Context, layout broker.Layout) error {
	return s.permitted(ctx, func(ctx context.Context) error {
		if s.Found() {
			return s.find(ctx, layout.Topics)
		}
		return s.makeStreams(ctx, layout.Topics)
	})
}

func (s *jetStreamSession) makeStreams(ctx context.Context, topics []broker.Topic) error {
	err := deadline.Each(ctx, atOnce, len(topics), func(ctx context.Context, i int) error {
		topic := topics[i]
		name := streamName(topic.Name)
		err := patiently(ctx, func(ctx context.Context) error { return s.js[0].DeleteStream(ctx, name) })
		if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("nats: remove old stream %q: %w", name, err)
		}
		config := jetstream.StreamConfig{
			Name:       name,
			Subjects:   []string{topic.Name},
			Storage:    s.storage,
			Replicas:   max(1, s.Replicas),
			Retention:  jetstream.LimitsPolicy,
			Discard:    jetstream.DiscardOld,
			MaxMsgs:    -1,
			MaxBytes:   -1,
			MaxMsgSize: -1,
			Duplicates: dedupWindow,
		}
		err = patiently(ctx, func(ctx context.Context) error {
			_, err := s.js[0].CreateStream(ctx, config)
			return err
		})
		if err != nil {
			return fmt.Errorf("nats: create stream %q: %w", name, err)
		}
		s.consumersMu.Lock()
		s.made = append(s.made, name)
		s.consumersMu.Unlock()
		return nil
	})
	for _, topic := range topics {
		s.place(topic.Name, location{stream: streamName(topic.Name), subject: topic.Name})
	}
	return err
}

// patiently repeats requests that got no answer or came too early: a cluster that changes its leader loses requests, and these may be
// carried out twice. It also repeats when a store could not be made: the server removes the folder of its last stream some time after
// it has reported the stream as gone, and the folder of the next stream may go with it. A full disk stays an error. And it repeats when a
// node counts as offline, as one does that has not been heard of for a moment; a cluster that is too small says something else.
func patiently(ctx context.Context, ask func(context.Context) error) error {
	return asking(ctx, answerTimeout, ask)
}

func asking(ctx context.Context, timeout time.Duration, ask func(context.Context) error) error {
	refused := 0
	return deadline.Ask(ctx, storePause, func() (again bool, err error) {
		try, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		err = ask(try)
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout), isRefusal(err, temporarilyUnavailable),
			isRefusal(err, noPeers) && strings.Contains(err.Error(), "peer offline"):
			return true, err
		case isStoreRefused(err):
			refused++
			return refused <= storeTries, err
		}
		return false, err
	})
}

const (
	storeTries = 10
	storePause = 20 * time.Millisecond
	// JSStreamCreateErrF, JSClusterNotAvailErr and JSClusterNoPeersErrF of nats-server.
	streamCreateFailed     jetstream.ErrorCode = 10049
	temporarilyUnavailable jetstream.ErrorCode = 10008
	noPeers                jetstream.ErrorCode = 10005
)

func isRefusal(err error, code jetstream.ErrorCode) bool {
	var refusal *jetstream.APIError
	return errors.As(err, &refusal) && refusal.ErrorCode == code
}

func isStoreRefused(err error) bool {
	var refusal *jetstream.APIError
	return errors.As(err, &refusal) && refusal.ErrorCode == streamCreateFailed && strings.Contains(refusal.Description, "creating store")
}

// Remove deletes what this session has made: streams with their consumers, or its consumers on other streams.
func (s *jetStreamSession) Remove(ctx context.Context) error {
	s.over.Store(true)
	for _, one := range s.consumers {
		one.stop()
	}
	var mu sync.Mutex
	var failed error
	var removals []func()
	remove := func(what, name string, ask func(context.Context) error) {
		removals = append(removals, func() {
			err := asking(ctx, removeTimeout, ask)
			mu.Lock()
			defer mu.Unlock()
			silent := ctx.Err() != nil && failed != nil // one error from a silent server is enough
			if err != nil && !silent && !errors.Is(err, jetstream.ErrStreamNotFound) && !errors.Is(err, jetstream.ErrConsumerNotFound) {
				failed = errors.Join(failed, fmt.Errorf("nats: remove %s %q: %w", what, name, err))
			}
		})
	}
	for _, name := range s.made {
		remove("stream", name, func(ctx context.Context) error { return s.js[0].DeleteStream(ctx, name) })
	}
	if s.Found() {
		for stream, names := range s.leftovers() {
			for _, name := range names {
				remove("consumer", name, func(ctx context.Context) error { return s.js[0].DeleteConsumer(ctx, stream, name) })
			}
		}
	}
	_ = deadline.Each(ctx, atOnce, len(removals), func(_ context.Context, i int) error { removals[i](); return nil })
	return failed
}

// Close ends the connections. Outstanding answers will not arrive.
func (s *jetStreamSession) Close() error {
	err := s.connections.Close()
	for _, p := range s.producers {
		p.giveUp()
	}
	return err
}

// Leader is the name of the server that leads the topic's stream.
func (s *jetStreamSession) Leader(ctx context.Context, topic string) (string, error) {
	at, known := s.streams[topic]
	if !known {
		return "", fmt.Errorf("nats: leader of topic %q: there is no such topic", topic)
	}
	for i, connection := range s.all {
		if !connection.IsConnected() && i < len(s.all)-1 {
			continue
		}
		found, err := s.js[i].Stream(ctx, at.stream)
		if err != nil {
			return "", fmt.Errorf("nats: leader of stream %q: %w", at.stream, err)
		}
		cluster := found.CachedInfo().Cluster
		switch {
		case cluster == nil: // a single server
			return connection.ConnectedServerName(), nil
		case cluster.Leader == "":
			return "", fmt.Errorf("nats: stream %q has no leader at the moment", at.stream)
		}
		return cluster.Leader, nil
	}
	return "", errors.New("nats: not connected")
}

func (s *jetStreamSession) Producer(connection int) (broker.Producer, error) {
	return s.producers[connection], nil
}

func (s *jetStreamSession) Describe() broker.Description {
	d := s.describe()
	d.Acks, d.Stores, d.RedeliversAfter = true, true, s.ackWait()
	all := d.Settings
	if s.Run == "" {
		all["storage"] = s.storage.String()
		all["replicas"] = strconv.Itoa(max(1, s.Replicas))
		all["streams"] = "one per topic, limits, discard old"
	} else {
		all["streams"] = "your own: " + s.storedAs
	}
	all["publish"] = s.own.Publish
	all["publishRetries"] = "0"
	if s.own.Publish == "async" {
		all["publishMaxPending"] = strconv.Itoa(s.maxPending())
	}
	all["publishTimeout"] = s.timeout().String()
	all["dedup"] = strconv.FormatBool(s.own.Dedup)
	if s.Run == "" {
		all["duplicatesWindow"] = dedupWindow.String()
	}
	all["consumer"] = "groups " + s.kind("group") + ", others " + s.kind("")
	all["deliverPolicy"] = "all"
	if s.Found() {
		all["deliverPolicy"] = "from the stream's end"
	}
	all["ackPolicy"] = "explicit (ordered: none)"
	all["ackWait"] = s.ackWait().String()
	all["maxAckPending"] = strconv.Itoa(s.maxAckPending())
	all["confirm"], all["acknowledgeAlone"], all["acknowledgeInGroup"] = "each message", "each message", "each message"
	if s.kind("") == "ordered" {
		all["acknowledgeAlone"] = "none: an ordered consumer"
	}
	all["prefetch"] = fmt.Sprintf("%d messages", s.prefetch())
	if s.kind("g") == "push" {
		all["prefetch"] = fmt.Sprintf("%d not acknowledged", s.maxAckPending())
	}
	all["pullExpiry"] = pullExpiry.String()
	all["idleHeartbeat"] = idleHeartbeat.String()
	if s.kind("") == "ordered" {
		all["orderedConsumer"] = "made anew after two missing heartbeats or a reconnect; asked for every " + remakeTimeout.String()
	}
	return d
}

// --- internal ---

func (s *jetStreamSession) reconnected(connection int) {
	s.consumersMu.Lock()
	defer s.consumersMu.Unlock()
	for _, one := range s.consumers {
		if one.connection == connection && one.reconnected != nil {
			one.reconnected()
		}
	}
}

// streamName replaces dots, and whatever else a name must not contain, with dashes.
func streamName(topic string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(". *>/\\\t\r\n", r) {
			return '-'
		}
		return r
	}, topic)
}
