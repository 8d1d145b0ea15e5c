package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// dedupWindow is the server's own: how long it remembers ids.
	dedupWindow = 2 * time.Minute
	// headerBytes is room for the header of an id: "NATS/1.0\r\nNats-Msg-Id: ...\r\n\r\n".
	headerBytes = 64
	apiTimeout  = 10 * time.Second
	// answerTimeout is how long a request waits for its answer before it is made again.
	answerTimeout = 3 * time.Second
)

// jetStreamSession is a session of JetStream. Its topics are streams of one subject each.
type jetStreamSession struct {
	*connections
	storage jetstream.StorageType
	// js is the library's view of JetStream, one for each connection.
	js        []jetstream.JetStream
	producers []*producer
	streams   []string
	consuming []jetstream.ConsumeContext
	// over: consumers end because we remove them.
	over atomic.Bool
}

var _ broker.Session = (*jetStreamSession)(nil)

func newJetStream(c *connections) (*jetStreamSession, error) {
	s := &jetStreamSession{connections: c, storage: jetstream.FileStorage, producers: make([]*producer, c.Connections)}
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
	c.lost = func(connection int) { s.producers[connection].disconnected() }
	return s, nil
}

func (s *jetStreamSession) Open(ctx context.Context) error {
	bytes := 0
	if s.own.Dedup {
		bytes = headerBytes
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
	if _, err := s.js[0].AccountInfo(ctx); errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return errors.New("nats: the server has no JetStream: start it with -js, or use mode core")
	} else if err != nil {
		return fmt.Errorf("nats: ask for JetStream: %w", err)
	}
	return nil
}

// Prepare makes a stream for each topic; one of that name that is left of an earlier run goes, its consumers included.
func (s *jetStreamSession) Prepare(ctx context.Context, topics []broker.Topic) error {
	for _, topic := range topics {
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
		s.streams = append(s.streams, name)
	}
	return nil
}

// patiently asks again what was not answered: a cluster that has just changed its leader loses requests, and these may be made
// twice. It asks again too when a store could not be made: the server takes away the folder of its last stream some time after
// it has said that the stream is gone, and the next stream's folder may go with it. A disk that is full stays an error.
func patiently(ctx context.Context, ask func(context.Context) error) error {
	for refused := 0; ; {
		try, cancel := context.WithTimeout(ctx, answerTimeout)
		err := ask(try)
		cancel()
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout):
		case isStoreRefused(err) && refused < storeTries:
			refused++
			time.Sleep(storePause)
		default:
			return err
		}
	}
}

const (
	storeTries = 10
	storePause = 20 * time.Millisecond
	// streamCreateFailed is JSStreamCreateErrF of nats-server.
	streamCreateFailed jetstream.ErrorCode = 10049
)

func isStoreRefused(err error) bool {
	var refusal *jetstream.APIError
	return errors.As(err, &refusal) && refusal.ErrorCode == streamCreateFailed && strings.Contains(refusal.Description, "creating store")
}

// Remove deletes the streams; their consumers go with them.
func (s *jetStreamSession) Remove(ctx context.Context) error {
	s.over.Store(true)
	for _, one := range s.consuming {
		one.Stop()
	}
	var failed error
	for _, name := range s.streams {
		err := s.js[0].DeleteStream(ctx, name)
		if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			failed = errors.Join(failed, fmt.Errorf("nats: remove stream %q: %w", name, err))
			if ctx.Err() != nil {
				break
			}
		}
	}
	return failed
}

func (s *jetStreamSession) Producer(connection int) (broker.Producer, error) {
	return s.producers[connection], nil
}

func (s *jetStreamSession) Describe() broker.Description {
	all := s.settings()
	all["storage"] = s.storage.String()
	all["replicas"] = strconv.Itoa(max(1, s.Replicas))
	all["streams"] = "one per topic, limits, discard old"
	all["publish"] = s.publish()
	all["publishRetries"] = "0"
	if s.publish() == "async" {
		all["publishMaxPending"] = strconv.Itoa(s.maxPending())
	}
	all["publishTimeout"] = s.timeoutText()
	all["dedup"] = strconv.FormatBool(s.own.Dedup)
	all["duplicatesWindow"] = dedupWindow.String()
	all["consumer"] = "groups " + s.kind("group") + ", others " + s.kind("")
	all["deliverPolicy"] = "all"
	all["ackPolicy"] = "explicit (ordered: none)"
	all["ackWait"] = s.ackWait().String()
	all["maxAckPending"] = strconv.Itoa(s.maxAckPending())
	all["prefetch"] = strconv.Itoa(s.prefetch())
	all["pullExpiry"] = pullExpiry.String()
	all["idleHeartbeat"] = idleHeartbeat.String()
	return broker.Description{
		Acks:     true,
		Order:    "per-producer",
		Stores:   true,
		Library:  s.library(),
		Server:   s.server(),
		Settings: all,
	}
}

// --- internal ---

// streamName: a subject's dots, and what else a name may not have, become dashes.
func streamName(topic string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(". *>/\\\t\r\n", r) {
			return '-'
		}
		return r
	}, topic)
}
