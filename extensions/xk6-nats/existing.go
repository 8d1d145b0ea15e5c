package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// location is the stream that has a topic's messages.
type location struct {
	stream string
	// subject that messages are published to.
	subject string
	// filter is the subject that consumers ask for; "" is everything that the stream has.
	filter string
	// takenAway is true if reading removes messages (retention workqueue).
	takenAway bool
}

// storedShown is how many streams Describe lists.
const storedShown = 3

// find finds the streams of existing topics: first a stream with the topic among its subjects, then a stream of that name.
func (s *jetStreamSession) find(ctx context.Context, topics []broker.Topic) error {
	for i, topic := range topics {
		bySubject := false
		var found jetstream.Stream
		err := s.patiently(ctx, func(ctx context.Context) error {
			name, err := s.js[0].StreamNameBySubject(ctx, topic.Name)
			if bySubject = err == nil; errors.Is(err, jetstream.ErrStreamNotFound) {
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
		if s.streams[topic.Name], err = s.locate(topic.Name, bySubject, config); err != nil {
			return fmt.Errorf("nats: topic %s%w", topic.Name, err)
		}
		if i < storedShown {
			s.storedAs += fmt.Sprintf("; %s %s, %s, replicas %d", config.Name, strings.ToLower(config.Storage.String()),
				strings.ToLower(config.Retention.String()), config.Replicas)
		}
	}
	s.storedAs = strings.TrimPrefix(s.storedAs, "; ")
	if more := len(topics) - storedShown; more > 0 {
		s.storedAs += fmt.Sprintf("; and %d more", more)
	}
	return nil
}

// state of a stream: its first and its last message.
func (s *jetStreamSession) state(ctx context.Context, connection int, at location) (state jetstream.StreamState, err error) {
	err = s.patiently(ctx, func(ctx context.Context) error {
		found, err := s.js[connection].Stream(ctx, at.stream)
		if err == nil {
			state = found.CachedInfo().State
		}
		return err
	})
	return state, err
}

// --- internal ---

// locate finds how to send to a topic and how to read it on an existing stream, and refuses one that cannot store the run's messages.
func (s *jetStreamSession) locate(topic string, bySubject bool, config jetstream.StreamConfig) (location, error) {
	at := location{stream: config.Name, subject: topic, takenAway: config.Retention == jetstream.WorkQueuePolicy}
	one := len(config.Subjects) == 1 && !strings.ContainsAny(config.Subjects[0], "*>")
	switch {
	case !bySubject && len(config.Subjects) == 0:
		return at, errors.New(" is a stream without subjects, which nothing can be sent to; name another one")
	case !bySubject && !one:
		return at, fmt.Errorf(" is a stream of the subjects %s; name one of them instead", strings.Join(config.Subjects, ", "))
	case config.NoAck:
		return at, fmt.Errorf(": its stream %s acknowledges nothing (no_ack); use mode core, or another stream", config.Name)
	case config.Sealed:
		return at, fmt.Errorf(": its stream %s is sealed and takes no messages; use another stream", config.Name)
	case config.MaxMsgSize > 0 && int(config.MaxMsgSize) < s.MessageBytes && s.LimitBytes == 0:
		return at, fmt.Errorf(": messages of %d bytes are above the max_msg_size of its stream %s, which is %d", s.MessageBytes, config.Name, config.MaxMsgSize)
	case s.own.refuses(config) != nil:
		return at, fmt.Errorf(": its stream %s %w", config.Name, s.own.refuses(config))
	case one:
		at.subject = config.Subjects[0]
	default:
		at.filter = topic
	}
	return at, nil
}
