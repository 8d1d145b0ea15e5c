// Package streaming is the driver for NATS Streaming: channels that keep every message, acknowledgements both ways. Its makers ended it in 2023.
package streaming

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"github.com/nats-io/stan.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	// atOnce is how many requests wait for the server at the same time.
	atOnce       = 64
	closeTimeout = time.Second
	// longestMark is how long the server may take to hand out the mark that it has acknowledged.
	longestMark = 10 * time.Second
	markBytes   = 1
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	own := defaults
	if err := o.Decode(&own); err != nil {
		return nil, fmt.Errorf("nats-streaming: %w", err)
	}
	if o.Replicas > 1 {
		return nil, errors.New("nats-streaming: a channel has no replicas of its own; the server's cluster decides")
	}
	servers, err := address.List(o.URL)
	if err != nil {
		return nil, fmt.Errorf("nats-streaming: %w", err)
	}
	security, err := own.TLS.Config()
	if err != nil {
		return nil, fmt.Errorf("nats-streaming: %w", err)
	}
	return &session{
		Base: broker.NewBase("nats-streaming", o), own: own, servers: servers, security: security, marks: map[string]int64{},
		wires: &address.Wires{Dialer: net.Dialer{Timeout: connectTimeout}}, client: "mqbench-" + nuid.Next(),
	}, nil
}

type session struct {
	*broker.Base
	own      options
	servers  []string
	security *tls.Config
	wires    *address.Wires
	// client begins the names that the server knows our connections by.
	client string
	links  []*link
	// marks has the server's time of the mark in each channel that Prepare has made: what is not behind it is of an earlier run.
	marks         map[string]int64
	subscriptions broker.List[*subscription]
}

var (
	_ broker.Session  = (*session)(nil)
	_ broker.Remover  = (*session)(nil)
	_ broker.Dropper  = (*session)(nil)
	_ broker.Holder   = (*session)(nil)
	_ broker.Producer = (*link)(nil)

	_ broker.ConcurrentConsumer = (*session)(nil)
)

func (s *session) Open(context.Context) error {
	for i := range s.Connections {
		l, err := s.connect(i)
		if err != nil {
			return fmt.Errorf("nats-streaming: connect: %w", broker.Nth(i, s.Connections, err))
		}
		s.links = append(s.links, l)
	}
	if limit := s.links[0].below.MaxPayload(); int64(s.MessageBytes+leastEnvelope) > limit && s.LimitBytes == 0 {
		return fmt.Errorf("nats-streaming: messages of %d bytes and their envelope of %d or more are above the server's max_payload of %d",
			s.MessageBytes, leastEnvelope, limit)
	}
	return nil
}

// Prepare leaves a mark in each channel, and so makes it: no client can ask for a channel, empty it or remove it. Consumers skip what is
// not behind the mark, such as what a group of a killed run has left.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	if s.Found() {
		return nil
	}
	topics := layout.Topics
	var mu sync.Mutex
	return deadline.Each(ctx, atOnce, len(topics), func(ctx context.Context, i int) error {
		name := topics[i].Name
		at, err := s.mark(ctx, name)
		if err != nil {
			return fmt.Errorf("nats-streaming: mark the end of channel %q: %w", name, err)
		}
		mu.Lock()
		defer mu.Unlock()
		s.marks[name] = at
		return nil
	})
}

func (s *session) Producer(connection int) (broker.Producer, error) { return s.links[connection], nil }

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	one := &subscription{
		link: s.links[to.Connection], topic: to.Topic, group: s.groupName(to.Group), handle: handle, now: s.Now,
		marked: s.Run == "", mark: s.marks[to.Topic],
	}
	if err := deadline.While(ctx, func() error { return one.subscribe(s.subscriptionOptions().Options...) }); err != nil {
		return fmt.Errorf("nats-streaming: subscribe to %q: %w", to.Topic, err)
	}
	s.subscriptions.Add(one)
	return nil
}

func (s *session) ConsumesAtOnce() int { return atOnce }

// Remove takes the members out of their groups; the last one takes the group with it.
func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	all := s.subscriptions.All()
	err := deadline.Each(ctx, atOnce, len(all), func(ctx context.Context, i int) error {
		return deadline.While(ctx, all[i].unsubscribe)
	})
	return broker.Wrap("nats-streaming: leave groups", err)
}

// Held is what waits for the callbacks of subscriptions.
func (s *session) Held() (held int64, known bool) {
	for _, one := range s.subscriptions.All() {
		if n, _, err := one.library().Pending(); err == nil { // a closed one holds nothing
			held += int64(n)
		}
	}
	return held, true
}

func (s *session) Dropped() (dropped int64) {
	for _, one := range s.subscriptions.All() {
		dropped += one.lost()
	}
	return dropped
}

func (s *session) Describe() broker.Description {
	set := s.natsOptions()
	maps.Copy(set.Printed, s.stanOptions().Printed)
	maps.Copy(set.Printed, s.subscriptionOptions().Printed)
	set.Print(map[string]any{
		"connections": s.Connections, "tls": s.security != nil, "compression": "none",
		"channels":           "kept by the server after the run, as no client can remove one; what is before a mark of 1 byte is skipped",
		"confirm":            "each message",
		"flush":              fmt.Sprintf("by the library's flusher, at once; what comes meanwhile shares a write, up to %d bytes", writeBufferBytes),
		"batching":           "none",
		"acknowledgeAlone":   "each message: every subscription does",
		"acknowledgeInGroup": "each message",
		"prefetch":           fmt.Sprintf("%d not acknowledged", s.own.Prefetch),
	})
	d := broker.Description{
		Acks: true, Order: "per-producer", Stores: true, RedeliversAfter: s.ackWait(), Settings: set.Printed,
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
	s.Dropped()
	// Both ask a server that may be gone; a write that it does not take holds a lock.
	late := time.AfterFunc(closeTimeout, s.wires.Cut)
	defer late.Stop()
	deadline.AtMost(closeTimeout+connectTimeout, deadline.Steps(s.links, (*link).close)...)
	return nil
}

// --- internal ---

// mark sends a message of 1 byte, which is shorter than any of ours, and returns the server's time of it, in ns.
func (s *session) mark(ctx context.Context, topic string) (int64, error) {
	on := s.links[0].current()
	if err := deadline.While(ctx, func() error { return on.Publish(topic, make([]byte, markBytes)) }); err != nil {
		return 0, err
	}
	times := make(chan int64, 1)
	last, err := on.Subscribe(topic, func(m *stan.Msg) {
		select {
		case times <- m.Timestamp:
		default:
		}
	}, stan.StartWithLastReceived(), stan.MaxInflight(1))
	if err != nil {
		return 0, err
	}
	defer func() { _ = last.Unsubscribe() }()
	select {
	case at := <-times:
		return at, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(longestMark):
		return 0, fmt.Errorf("the server has not handed it out within %s", longestMark)
	}
}

// groupName is a group's name on the server, where a colon has a meaning of its own.
func (s *session) groupName(group string) string {
	if group == "" {
		return ""
	}
	return strings.ReplaceAll(s.Named("-", group), ":", "-")
}

// subscription is one consumer; it is made again when the server has forgotten its connection.
type subscription struct {
	link         *link
	topic, group string
	handle       broker.Handler
	now          func() int64
	// marked: the channel has marks of ours, and what is not behind `mark` is of an earlier run.
	marked bool
	mark   int64
	// last sequence that was handled.
	last atomic.Uint64

	mu sync.Mutex
	at stan.Subscription
	// dropped is what earlier ones lost.
	dropped, known int64
}

func (o *subscription) subscribe(options ...stan.SubscriptionOption) error {
	take := func(m *stan.Msg) {
		at := o.now()
		if o.marked && (len(m.Data) == markBytes || m.Timestamp <= o.mark) {
			return
		}
		o.handle(broker.Delivery{ReceivedNs: at, Payload: m.Data, Redelivered: m.Redelivered})
		o.last.Store(m.Sequence)
	}
	on := o.link.current()
	var made stan.Subscription
	var err error
	if o.group == "" {
		made, err = on.Subscribe(o.topic, take, options...)
	} else {
		made, err = on.QueueSubscribe(o.topic, o.group, take, append(options, stan.DurableName(o.group))...)
	}
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dropped += o.known
	o.at, o.known = made, 0
	return nil
}

func (o *subscription) library() stan.Subscription {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.at
}

func (o *subscription) unsubscribe() error {
	err := o.library().Unsubscribe()
	if errors.Is(err, stan.ErrConnectionClosed) { // nothing of it is left
		return nil
	}
	return err
}

// lost is how many messages the library has dropped of it. A closed one no longer answers; what it dropped before stays counted.
func (o *subscription) lost() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n, err := o.at.Dropped(); err == nil {
		o.known = max(o.known, int64(n))
	}
	return o.dropped + o.known
}
