package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	// dedupWindow is the server's default: how long it remembers ids.
	dedupWindow = 2 * time.Minute
	// answerTimeout is how long a request waits for its answer before it is repeated.
	answerTimeout = 2 * time.Second
)

// jetStreamSession is a session of JetStream. Its topics are streams of one subject each, or subjects of existing streams.
type jetStreamSession struct {
	*connections
	storage   jetstream.StorageType
	stallWait jetstream.PublishOpt
	// js is the library's view of JetStream, one for each connection.
	js        []jetstream.JetStream
	producers []*producer
	layout    broker.Layout
	// streams has where each topic is.
	streams map[string]location
	// storedAs describes the existing streams, for people.
	storedAs string
	// made has the names of the streams that Prepare has made.
	made       broker.List[string]
	consumers  broker.List[consumer]
	deliveries *deliveries
}

var (
	_ broker.Remover      = (*jetStreamSession)(nil)
	_ broker.Holder       = (*jetStreamSession)(nil)
	_ broker.LeaderFinder = (*jetStreamSession)(nil)
	_ broker.Leaver       = (*jetStreamSession)(nil)
)

func newJetStream(c *connections) *jetStreamSession {
	s := &jetStreamSession{
		connections: c, streams: map[string]location{}, deliveries: &deliveries{CustomDialer: c.wires},
	}
	s.stallWait = jetstream.WithStallWait(s.timeout())
	if c.Durability == "memory" {
		s.storage = jetstream.MemoryStorage
	}
	for range c.Connections {
		s.producers = append(s.producers, &producer{session: s, pending: map[*nats.Msg]sending{}})
	}
	return s
}

func (s *jetStreamSession) Open(ctx context.Context) error {
	err := s.open(s.deliveries, func(connection int) {
		s.deliveries.uncertain.Store(true)
		s.producers[connection].giveUp()
	})
	if err != nil {
		return err
	}
	for i, connection := range s.all {
		if err := s.producers[i].open(connection); err != nil {
			return fmt.Errorf("nats: open JetStream: %w", err)
		}
		s.js = append(s.js, s.producers[i].js)
	}
	err = s.patiently(ctx, func(ctx context.Context) error {
		_, err := s.js[0].AccountInfo(ctx)
		return err
	})
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return errors.New("nats: the server has no JetStream: start it with -js, or use mode core")
	}
	return broker.Wrap("nats: ask for JetStream", err)
}

// Held is how many messages the library has read and not handed over. Encrypted bytes cannot be counted.
func (s *jetStreamSession) Held() (held int64, known bool) {
	taken := s.deliveries.taken.Load()
	return s.deliveries.read.Load() - taken, !s.deliveries.uncertain.Load() && !s.all[0].TLSRequired()
}

// Prepare makes a stream for each topic. It removes a stream of that name from an earlier run, with its consumers.
func (s *jetStreamSession) Prepare(ctx context.Context, layout broker.Layout) error {
	s.layout = layout
	if s.Found() {
		if err := s.find(ctx, layout.Topics); err != nil || s.Run != "" {
			return err
		}
		return deadline.Each(ctx, layout.Names(), s.untilHeard)
	}
	for _, topic := range layout.Topics {
		s.streams[topic.Name] = location{stream: streamName(topic.Name), subject: topic.Name}
	}
	return deadline.Each(ctx, layout.Names(), func(ctx context.Context, topic string) error {
		if err := s.makeStream(ctx, topic); err != nil {
			return err
		}
		return s.untilHeard(ctx, topic)
	})
}

// untilHeard waits until a message to the topic reaches its stream from every connection: a cluster reports a stream as made before each of
// its nodes has the subject, and until then nothing answers there. The message expects another stream, so none stores it.
func (s *jetStreamSession) untilHeard(ctx context.Context, topic string) error {
	for i, connection := range s.all {
		if connection.ConnectedClusterName() == "" {
			continue
		}
		err := s.patiently(ctx, func(ctx context.Context) error {
			_, err := s.js[i].Publish(ctx, s.streams[topic].subject, nil, jetstream.WithExpectStream("none"), noRetry)
			if refusal := (*jetstream.APIError)(nil); errors.As(err, &refusal) && refusal.ErrorCode == otherStream {
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("nats: reach the stream of topic %q: %w", topic, err)
		}
	}
	return nil
}

// patiently repeats requests that got no answer or came too early: a cluster that changes its leader loses requests, or carries them out twice; a
// server removes the folder of its last stream some time after it has reported it as gone, and the next stream's may go with it (a full disk stays an
// error); a node counts as offline after a moment of silence. A right that the server refuses ends it: the library matches that error to no request.
func (s *jetStreamSession) patiently(ctx context.Context, ask func(context.Context) error) error {
	refused := 0
	return deadline.Ask(ctx, storePause, func() (again bool, err error) {
		try, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		if !s.IsQuiet() { // its objects are removed in any case
			defer context.AfterFunc(s.granted, cancel)()
		}
		if err = ask(try); err != nil && try.Err() != nil && s.granted.Err() != nil {
			return false, context.Cause(s.granted)
		}
		var refusal *jetstream.APIError
		if !errors.As(err, &refusal) {
			return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoStreamResponse), err
		}
		switch refusal.ErrorCode {
		case temporarilyUnavailable:
			again = true
		case noPeers:
			again = strings.Contains(refusal.Description, "peer offline")
		case streamCreateFailed:
			refused++
			again = refused <= storeTries && strings.Contains(refusal.Description, "creating store")
		}
		return again, err
	})
}

const (
	storeTries = 10
	storePause = 20 * time.Millisecond
	// JSStreamCreateErrF, JSClusterNotAvailErr, JSClusterNoPeersErrF and JSStreamNotMatchErr of nats-server.
	streamCreateFailed     jetstream.ErrorCode = 10049
	temporarilyUnavailable jetstream.ErrorCode = 10008
	noPeers                jetstream.ErrorCode = 10005
	otherStream            jetstream.ErrorCode = 10060
)

// Remove deletes our streams with their consumers, or our consumers on other streams; client 0 those of the run's groups.
func (s *jetStreamSession) Remove(ctx context.Context) error {
	s.Quiet()
	var all []func(context.Context) error
	remove := func(what, name string, ask func(context.Context) error) {
		all = append(all, func(ctx context.Context) error {
			err := s.patiently(ctx, ask)
			if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrConsumerNotFound) {
				return nil
			}
			return broker.Wrap(fmt.Sprintf("nats: remove %s %q", what, name), err)
		})
	}
	consumer := func(stream, name string) {
		remove("consumer", name, func(ctx context.Context) error { return s.js[0].DeleteConsumer(ctx, stream, name) })
	}
	for _, one := range s.consumers.All() {
		if one.stop(); s.Found() && one.name != nil {
			consumer(one.stream, one.name())
		}
	}
	for _, to := range s.layout.Subscriptions {
		if to.Group != "" && s.Run != "" && s.Client == 0 {
			consumer(s.streams[to.Topic].stream, s.groupName(to.Group))
		}
	}
	for _, name := range s.made.All() {
		remove("stream", name, func(ctx context.Context) error { return s.js[0].DeleteStream(ctx, name) })
	}
	var failed broker.List[error]
	_ = deadline.Each(ctx, all, func(ctx context.Context, step func(context.Context) error) error { failed.Add(step(ctx)); return nil })
	if ctx.Err() != nil { // one error from a silent server is enough
		return cmp.Or(failed.All()...)
	}
	return errors.Join(failed.All()...)
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
	i := slices.IndexFunc(s.all, (*nats.Conn).IsConnected)
	if i < 0 {
		return "", errors.New("nats: not connected")
	}
	found, err := s.js[i].Stream(ctx, s.streams[topic].stream)
	if err != nil {
		return "", fmt.Errorf("nats: leader of topic %q: %w", topic, err)
	}
	switch cluster := found.CachedInfo().Cluster; {
	case cluster == nil: // a single server
		return s.all[i].ConnectedServerName(), nil
	case cluster.Leader == "":
		return "", fmt.Errorf("nats: topic %q has no leader at the moment", topic)
	default:
		return cluster.Leader, nil
	}
}

func (s *jetStreamSession) Producer(connection int) (broker.Producer, error) {
	return s.producers[connection], nil
}

func (s *jetStreamSession) Describe() broker.Description {
	d := s.describe()
	ackWait := time.Duration(s.own.AckWaitNs)
	d.Acks, d.Stores, d.Replays, d.RedeliversAfter = true, true, true, ackWait
	set := broker.Settings[any]{Printed: d.Settings}
	set.Print(map[string]any{
		"publish": s.own.Publish, "publishRetries": 0, "publishTimeout": s.timeout(), "dedup": s.own.Dedup,
		"consumer":      "groups " + s.kind("group") + ", others " + s.kind(""),
		"deliverPolicy": "all", "ackPolicy": "explicit (ordered: none)", "ackWait": ackWait, "maxAckPending": s.own.MaxAckPending,
		"confirm": "each message", "acknowledgeAlone": "each message", "acknowledgeInGroup": "each message",
		"prefetch":   fmt.Sprintf("%d messages", s.own.Prefetch),
		"pullExpiry": pullExpiry, "idleHeartbeat": idleHeartbeat,
		"streams": "your own: " + s.storedAs,
	})
	if s.Run == "" {
		set.Print(map[string]any{
			"storage": s.storage, "replicas": max(1, s.Replicas), "streams": "one per topic, limits, discard old", "duplicatesWindow": dedupWindow,
		})
	}
	batch := fmt.Sprintf("%d messages, or what there is after %s", s.own.Batch, time.Duration(s.own.LingerNs))
	switch s.own.Publish {
	case publishAtomic:
		set.Set("confirm", "each batch, which is stored whole or not at all")
		set.Set("batching", batch+"; of one topic and connection")
	case publishFast:
		set.Set("confirm", batch+": all up to there are stored, one after the other")
	case "async":
		set.Set("publishMaxPending", s.maxPending())
	}
	if s.Found() {
		set.Set("deliverPolicy", "from the stream's end")
	}
	if s.kind("") == "ordered" {
		set.Set("acknowledgeAlone", "none: an ordered consumer")
		set.Set("orderedConsumer", fmt.Sprintf("made anew after two missing heartbeats or a reconnect; asked for every %s", remakeTimeout))
	}
	if s.kind("g") == "push" {
		set.Set("prefetch", fmt.Sprintf("%d not acknowledged", s.own.MaxAckPending))
	}
	return d
}

// --- internal ---

func (s *jetStreamSession) makeStream(ctx context.Context, topic string) error {
	name := streamName(topic)
	err := s.patiently(ctx, func(ctx context.Context) error { return s.js[0].DeleteStream(ctx, name) })
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("nats: remove old stream %q: %w", name, err)
	}
	var made jetstream.Stream
	err = s.patiently(ctx, func(ctx context.Context) (err error) {
		made, err = s.js[0].CreateStream(ctx, jetstream.StreamConfig{
			Name: name, Subjects: []string{topic}, Storage: s.storage, Replicas: max(1, s.Replicas), Duplicates: dedupWindow,
			Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld, MaxMsgs: -1, MaxBytes: -1, MaxMsgSize: -1,
			AllowAtomicPublish: s.own.Publish == publishAtomic, AllowBatchPublish: s.own.Publish == publishFast,
		})
		return err
	})
	if err == nil {
		s.made.Add(name)
		err = s.own.refuses(made.CachedInfo().Config)
	}
	return broker.Wrap(fmt.Sprintf("nats: create stream %q", name), err)
}

// streamName replaces dots, and whatever else a name must not contain, with dashes.
func streamName(topic string) string {
	return strings.NewReplacer(".", "-", " ", "-", "*", "-", ">", "-", "/", "-", "\\", "-", "\t", "-", "\r", "-", "\n", "-").Replace(topic)
}
