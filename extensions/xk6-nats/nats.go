// Package nats is the driver for NATS: core (subjects, nothing stored, nothing acknowledged) and JetStream (each topic a
// stream, each message stored and acknowledged).
package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// New makes a session of the mode that the options say.
func New(o broker.Options) (broker.Session, error) {
	c, err := newConnections(o)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	if c.own.Mode == "jetstream" {
		return newJetStream(c)
	}
	if o.Durability != "" || o.Replicas > 1 {
		return nil, errors.New("nats: core stores nothing, so it takes neither durability nor replicas")
	}
	return &core{c}, nil
}

var errNotConnected = errors.New("nats: publish: not connected")

// core is a session of NATS core.
type core struct{ *connections }

type coreProducer struct{ connection *nats.Conn }

var (
	_ broker.Session  = (*core)(nil)
	_ broker.Dropper  = (*core)(nil)
	_ broker.Holder   = (*core)(nil)
	_ broker.Producer = (*coreProducer)(nil)

	_ broker.ConcurrentConsumer = (*core)(nil)
)

func (s *core) Open(context.Context) error { return s.open(0) }

// Prepare does nothing: a subject exists by being used, and core NATS keeps nothing from earlier runs.
func (s *core) Prepare(context.Context, broker.Layout) error { return nil }

func (s *core) Producer(connection int) (broker.Producer, error) {
	return &coreProducer{s.all[connection]}, nil
}

func (s *core) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	now := s.Now
	// A queue group of "" means none. Wildcards are NATS's own.
	subscription, err := s.all[to.Connection].QueueSubscribe(to.Topic, s.groupName(to.Group), func(m *nats.Msg) {
		handle(broker.Delivery{ReceivedNs: now(), Payload: m.Data})
	})
	if err != nil {
		return fmt.Errorf("nats: subscribe to %q: %w", to.Topic, err)
	}
	if err := subscription.SetPendingLimits(-1, pendingBytesLimit); err != nil {
		return fmt.Errorf("nats: set pending limits of %q: %w", to.Topic, err)
	}
	s.watch(subscription)
	if err := s.flush(ctx, to.Connection); err != nil {
		return fmt.Errorf("nats: subscribe to %q: %w", to.Topic, err)
	}
	return nil
}

// Held is what waits for the callbacks of subscriptions.
func (s *core) Held() (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var held int64
	for one := range s.subscriptions {
		if n, _, err := one.Pending(); err == nil { // a closed one holds nothing
			held += int64(n)
		}
	}
	return held, true
}

func (s *core) Describe() broker.Description {
	d := s.describe()
	d.Wildcards = true
	d.Settings["confirm"] = "none"
	d.Settings["acknowledgeAlone"] = "none"
	d.Settings["acknowledgeInGroup"] = "none: NATS core has no acknowledgements"
	d.Settings["prefetch"] = fmt.Sprintf("no limit of messages, %d bytes", pendingBytesLimit)
	return d
}

// Send publishes and completes at once: core NATS acknowledges nothing.
func (p *coreProducer) Send(m *broker.Message, done broker.Done) {
	done(m, 0, published(p.connection.Publish(m.Name, m.Payload)))
}

// location is the stream that has a topic's messages.
type location struct {
	stream string
	// subject that messages are published to.
	subject string
	// filter is the subject that consumers ask for; "" is everything that the stream has.
	filter string
	// takenAway: reading removes messages (retention workqueue).
	takenAway bool
}

// consumer is what this session has made on a stream or shares with other clients.
type consumer struct {
	stream string
	// group: all members of the run share the consumer.
	group string
	// names on the server.
	names func() []string
	stop  func()
	// reconnected, if not nil, is called when a connection was replaced.
	reconnected func()
	connection  int
}

// find finds the streams of existing topics: first a stream with the topic among its subjects, then a stream of that name.
func (s *jetStreamSession) find(ctx context.Context, topics []broker.Topic) error {
	var stored []string
	for _, topic := range topics {
		var found jetstream.Stream
		err := patiently(ctx, func(ctx context.Context) (err error) {
			name, err := s.js[0].StreamNameBySubject(ctx, topic.Name)
			if errors.Is(err, jetstream.ErrStreamNotFound) {
				name, err = streamName(topic.Name), nil
			}
			if err == nil {
				found, err = s.js[0].Stream(ctx, name)
			}
			return err
		})
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("nats: %w", broker.MissingTopic(topic.Name, "no stream has this subject or this name"))
		}
		if err != nil {
			return fmt.Errorf("nats: look up topic %q: %w", topic.Name, err)
		}
		config := found.CachedInfo().Config
		one, err := streamOf(topic.Name, config)
		if err == nil {
			err = s.fits(topic.Name, config)
		}
		if err != nil {
			return fmt.Errorf("nats: %w", err)
		}
		s.place(topic.Name, one)
		as := fmt.Sprintf("%s %s, %s, replicas %d", config.Name, strings.ToLower(config.Storage.String()), strings.ToLower(config.Retention.String()), config.Replicas)
		stored = append(stored, as)
	}
	s.storedAs = strings.Join(stored[:min(len(stored), storedShown)], "; ")
	if more := len(stored) - storedShown; more > 0 {
		s.storedAs += fmt.Sprintf("; and %d more", more)
	}
	return nil
}

// state of a stream: its first and its last message.
func (s *jetStreamSession) state(ctx context.Context, connection int, at location) (jetstream.StreamState, error) {
	found, err := s.js[connection].Stream(ctx, at.stream)
	if err != nil {
		return jetstream.StreamState{}, err
	}
	return found.CachedInfo().State, nil
}

// leftovers are the consumers, by stream, on streams that stay: this session's own and, for client 0, those of the run's groups, which may
// have members on other clients only.
func (s *jetStreamSession) leftovers() map[string][]string {
	left, groups := map[string][]string{}, map[string]bool{}
	for _, one := range s.consumers {
		if one.group != "" {
			groups[one.group] = true
		} else {
			left[one.stream] = append(left[one.stream], one.names()...)
		}
	}
	if s.Client > 0 || s.Run == "" {
		return left
	}
	for _, at := range s.streams {
		for group := range groups {
			if !slices.Contains(left[at.stream], group) {
				left[at.stream] = append(left[at.stream], group)
			}
		}
	}
	return left
}

// --- internal ---

// published rewords the library's error: its text is about a buffer that we have turned off.
func published(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return errNotConnected
	case errors.Is(err, nats.ErrMaxPayload):
		// It knows the server's max_payload, and has no way to send more.
		return fmt.Errorf("nats: publish: %w", broker.RefusedHere("nats.go", err))
	default:
		return fmt.Errorf("nats: publish: %w", address.Cause(err))
	}
}

// storedShown is how many streams Describe lists.
const storedShown = 3

// place stores the stream of a topic. Topics come in the order of broker.Message.Topic.
func (s *jetStreamSession) place(topic string, at location) {
	s.streams[topic] = at
	s.subjects = append(s.subjects, at.subject)
}

// streamOf says how to send to a topic and how to read it on an existing stream.
func streamOf(topic string, config jetstream.StreamConfig) (location, error) {
	at := location{stream: config.Name, subject: topic, takenAway: config.Retention == jetstream.WorkQueuePolicy}
	single := len(config.Subjects) == 1 && !strings.ContainsAny(config.Subjects[0], "*>")
	switch {
	case single && config.Subjects[0] == topic:
	case streamName(topic) == config.Name && !takes(config.Subjects, topic):
		switch {
		case len(config.Subjects) == 0:
			return at, fmt.Errorf("topic %s is a stream without subjects, which nothing can be sent to; name another one", topic)
		case !single:
			return at, fmt.Errorf("topic %s is a stream of the subjects %s; name one of them instead", topic, strings.Join(config.Subjects, ", "))
		}
		at.subject = config.Subjects[0]
	default:
		at.filter = topic
	}
	return at, nil
}

// fits refuses a stream that cannot store the run's messages.
func (s *jetStreamSession) fits(topic string, config jetstream.StreamConfig) error {
	switch {
	case config.NoAck:
		return fmt.Errorf("topic %s: its stream %s acknowledges nothing (no_ack); use mode core, or another stream", topic, config.Name)
	case config.Sealed:
		return fmt.Errorf("topic %s: its stream %s is sealed and takes no messages; use another stream", topic, config.Name)
	case config.MaxMsgSize > 0 && int(config.MaxMsgSize) < s.MessageBytes && s.LimitBytes == 0:
		return fmt.Errorf("topic %s: messages of %d bytes are above the max_msg_size of its stream %s, which is %d", topic, s.MessageBytes, config.Name, config.MaxMsgSize)
	}
	return nil
}

// takes reports whether one of the subjects, which may be patterns, covers the topic.
func takes(subjects []string, topic string) bool {
	return slices.ContainsFunc(subjects, func(subject string) bool {
		of, words := strings.Split(subject, "."), strings.Split(topic, ".")
		if last := len(of) - 1; of[last] == ">" && len(words) > last {
			of, words = of[:last], words[:last]
		}
		return broker.Matches(strings.Join(of, "."), strings.Join(words, "."))
	})
}
