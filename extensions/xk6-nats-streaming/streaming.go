// Package streaming is the driver for NATS Streaming: channels that keep every message, acknowledgements both ways. Its makers ended it in 2023.
package streaming

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"github.com/nats-io/stan.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	s := &session{
		Base: broker.NewBase("nats-streaming", o), own: defaults, client: "mqbench-" + nuid.Next(),
	}
	s.wires = &address.Wires{Dialer: s.Dialer(connectTimeout, nil)}
	err := o.Decode(&s.own)
	security, ofTLS := s.own.TLS.Config()
	var ofURL error
	s.servers, ofURL = address.List(o.URL)
	s.set(s.own, security)
	return s, broker.Wrap("nats-streaming", cmp.Or(err, ofTLS, ofURL))
}

type session struct {
	*broker.Base
	broker.DropsNothing // the library does not limit the messages that wait for callbacks
	settings
	own     options
	servers []string
	wires   *address.Wires
	// client is the beginning of our connections' names on the server.
	client    string
	links     []*link
	consumers broker.List[*consumer]
}

var (
	_ broker.Remover = (*session)(nil)
	_ broker.Holder  = (*session)(nil)
)

func (s *session) Open(ctx context.Context) error {
	for i := range s.Connections {
		if err := s.connect(ctx, i); err != nil {
			return fmt.Errorf("nats-streaming: connect: %w", broker.Nth(i, s.Connections, err))
		}
	}
	if limit := s.links[0].below.MaxPayload(); int64(s.MessageBytes+leastEnvelope) > limit && s.LimitBytes == 0 {
		return fmt.Errorf("nats-streaming: messages of %d bytes and their envelope of %d or more are above the server's max_payload of %d",
			s.MessageBytes, leastEnvelope, limit)
	}
	return nil
}

// Prepare takes the messages of a killed run out of groups: no client can ask for a channel, empty it or remove it.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	if s.Found() {
		return nil
	}
	return deadline.Each(ctx, layout.Subscriptions, func(ctx context.Context, to broker.Subscription) error {
		if to.Group == "" {
			return nil
		}
		to.Connection = 0 // another client's may be any
		one := s.consumer(to, func(broker.Delivery) {})
		err := deadline.While(ctx, func() error {
			if err := one.subscribe(one.link.Now()); err != nil {
				return err
			}
			return one.unsubscribe()
		})
		return broker.Wrap(fmt.Sprintf("nats-streaming: empty the group %q of %q", to.Group, to.Topic), err)
	})
}

func (s *session) Producer(connection int) (broker.Producer, error) { return s.links[connection], nil }

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	one := s.consumer(to, handle)
	var options []stan.SubscriptionOption
	if to.FromStart {
		options = append(options, stan.DeliverAllAvailable())
	}
	if err := deadline.While(ctx, func() error {
		on, connected := one.link.Now()
		return one.subscribe(on, connected, options...)
	}); err != nil {
		return fmt.Errorf("nats-streaming: subscribe to %q: %w", to.Topic, err)
	}
	s.consumers.Add(one)
	return nil
}

// Remove takes the members out of their groups; the last one takes the group with it.
func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	err := deadline.Each(ctx, s.consumers.All(), func(ctx context.Context, one *consumer) error {
		return deadline.While(ctx, one.unsubscribe)
	})
	return broker.Wrap("nats-streaming: leave groups", err)
}

// Held is how many messages wait for the callbacks of subscriptions.
func (s *session) Held() (held int64, known bool) {
	for _, one := range s.consumers.All() {
		if n, _, err := (*one.at.Load()).Pending(); err == nil { // a closed one holds nothing
			held += int64(n)
		}
	}
	return held, true
}

func (s *session) Describe() broker.Description {
	set := broker.Settings[any]{Printed: maps.Clone(s.below.Printed)}
	set.Print(map[string]any{
		"connections": s.Connections,
		"channels":    "kept by the server after the run, as no client can remove one; subscriptions begin with the next message",
		"confirm":     "each message", "batching": "none",
		"flush":            fmt.Sprintf("by the library's flusher, at once; what comes meanwhile shares a write, up to %d bytes", writeBufferBytes),
		"acknowledgeAlone": "each message: every subscription does", "acknowledgeInGroup": "each message",
		"prefetch": fmt.Sprintf("%d not acknowledged", s.own.Prefetch),
	})
	d := broker.Description{
		Acks: true, Order: "per-producer", Stores: true, Replays: true, RedeliversAfter: time.Duration(s.own.AckWaitNs), Settings: set.Printed,
		Library: fmt.Sprintf("stan.go v%s, nats.go v%s", stan.Version, nats.Version),
	}
	if len(s.links) > 0 {
		d.Server = "nats-streaming-server with nats-server " + s.links[0].below.ConnectedServerVersion()
	}
	return d
}

func (s *session) Close() error {
	if !s.End() {
		return nil
	}
	// Both ask a server that may be gone; a write that it does not take holds a lock.
	defer time.AfterFunc(closeTimeout, s.wires.Cut).Stop()
	deadline.AtMost(closeTimeout+connectTimeout, deadline.Steps(s.links, (*link).close)...)
	return nil
}

// --- internal ---

// consumer is a subscription; it is made again when the server has forgotten its connection.
type consumer struct {
	link         *link
	topic, group string
	handle       broker.Handler
	// last sequence that was handled.
	last atomic.Uint64
	at   atomic.Pointer[stan.Subscription]
}

func (s *session) consumer(to broker.Subscription, handle broker.Handler) *consumer {
	one := &consumer{link: s.links[to.Connection], topic: to.Topic, handle: handle}
	if to.Group != "" { // a colon has a special meaning
		one.group = strings.ReplaceAll(s.Named("-", to.Group), ":", "-")
	}
	return one
}

func (o *consumer) subscribe(on *above, connected bool, options ...stan.SubscriptionOption) error {
	if !connected {
		return errors.New("not connected")
	}
	s := o.link.session
	take := func(m *stan.Msg) {
		o.handle(broker.Delivery{ReceivedNs: s.Now(), Payload: m.Data, Redelivered: m.Redelivered})
		o.last.Store(m.Sequence)
	}
	// Without a group both names are "", which the library takes for a plain subscription.
	options = slices.Concat(options, s.subscription.Options, []stan.SubscriptionOption{stan.DurableName(o.group)})
	made, err := on.QueueSubscribe(o.topic, o.group, take, options...)
	if err == nil {
		o.at.Store(&made)
	}
	return err
}

func (o *consumer) unsubscribe() error {
	err := (*o.at.Load()).Unsubscribe()
	if errors.Is(err, stan.ErrConnectionClosed) { // nothing of it is left
		return nil
	}
	return err
}
