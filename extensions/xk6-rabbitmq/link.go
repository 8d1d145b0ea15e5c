package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// Every option of the library that affects the figures is set here and printed by Describe.
const (
	dialTimeout    = 5 * time.Second
	heartbeat      = 10 * time.Second
	frameMaxBytes  = 128 * 1024
	channelMax     = 2047
	reconnectDelay = 100 * time.Millisecond
	// closeGrace is how long the broker may take to confirm that we close.
	closeGrace = 500 * time.Millisecond
)

// link is one of the run's connections, by number, with the current wire: one to publish, or one to consume.
//
// They are two because RabbitMQ's authors advise it: the broker stops reading a connection that publishes more than the queues take (its
// flow control), and would not read the acknowledgements of its consumers either, which then get nothing.
type link struct {
	broker.Link[*wire]
	session *session
	number  int
	// consumes: it is one to consume, with these subscriptions.
	consumes      bool
	subscriptions broker.List[*subscription]
	// attempts to connect choose one node of a cluster after the other.
	attempts int
}

// wire is a connection of the library, and the socket that it reads.
type wire struct {
	*amqp.Connection
	raw     *incoming
	publish *amqp.Channel
	now     func() int64
	// It ends when the wire is given up, and the link then makes a new one.
	broker.Lifetime
}

// unconfirmed is the error of messages sent on a failed wire and not confirmed.
func (w *wire) unconfirmed() error {
	// It refuses a message for its size, and reads nothing more on that channel. All messages are of one size, so it has refused all of them.
	var answer *amqp.Error
	if errors.As(w.Err(), &answer) && answer.Code == amqp.PreconditionFailed && strings.Contains(answer.Reason, "message size") {
		return fmt.Errorf("rabbitmq: publish: the broker refuses the message and closes the channel: %s", answer.Reason)
	}
	return errUnknown
}

func (s *session) connect(ctx context.Context, number int, consumes bool) (*link, error) {
	l := &link{Link: broker.Link[*wire]{First: reconnectDelay, Wait: reconnectDelay}, session: s, number: number, consumes: consumes}
	return l, l.Open(ctx, s.Base, l.made)
}

// made is a wire with everything that the link has.
func (l *link) made(ctx context.Context) (*wire, error) {
	soon, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	w, err := l.session.dial(soon, l.number+l.attempts, "mqbench-"+strconv.Itoa(l.number)+map[bool]string{true: "-consumers"}[l.consumes])
	l.attempts++
	if err != nil {
		return nil, err
	}
	if err := l.restore(ctx, w); err != nil {
		_ = w.raw.Close()
		return nil, err
	}
	l.watch(w)
	return w, nil
}

// dial makes a wire to a node of the cluster, which lists it under this name. The end of ctx ends the attempt.
func (s *session) dial(ctx context.Context, number int, name string) (*wire, error) {
	w := &wire{Lifetime: broker.NewLifetime(context.Background()), now: s.Now}
	stop := func() bool { return true }
	config := amqp.Config{
		Locale:     "en_US",
		Heartbeat:  heartbeat,
		FrameSize:  frameMaxBytes,
		ChannelMax: channelMax,
		Properties: amqp.NewConnectionProperties(),
		Dial: func(network, address string) (net.Conn, error) {
			raw, err := s.Dialer(0, s.tls)(ctx, network, address)
			if err == nil {
				w.raw = newIncoming(raw)
				stop = context.AfterFunc(ctx, func() { _ = raw.Close() })
			}
			return w.raw, err
		},
	}
	config.Properties.SetClientConnectionName(name)
	var err error
	w.Connection, err = amqp.DialConfig(s.urls[number%len(s.urls)], config)
	stop()
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer: %w", ctx.Err())
	}
	if err != nil && w.raw != nil {
		_ = w.raw.Close()
	}
	return w, address.Cause(err)
}

// restore declares everything again, and publishes or consumes.
func (l *link) restore(ctx context.Context, w *wire) (err error) {
	if t := l.session.topology.Load(); l.attempts > 1 && t != nil {
		if err := t.declare(ctx, w); err != nil {
			return err
		}
	}
	for _, sub := range l.subscriptions.All() {
		if err := sub.start(w); err != nil {
			return err
		}
	}
	if l.consumes {
		return nil
	}
	if w.publish, err = w.Channel(); err == nil && l.session.Confirms {
		err = w.publish.Confirm(false)
	}
	return broker.Wrap("open a channel", err)
}

// watch reports the wire's end.
func (l *link) watch(w *wire) {
	// Subtle: only closing the socket frees a publish that the broker has blocked; the library itself would wait for it.
	context.AfterFunc(w, func() { _ = w.raw.Close() })
	// Close says goodbye on the wire before this.
	context.AfterFunc(l.session.Over, func() { time.AfterFunc(2*closeGrace, func() { _ = w.raw.Close() }) })
	lost := w.NotifyClose(make(chan *amqp.Error, 1))
	go func() { w.End(cause(<-lost)) }()
	if l.consumes {
		return
	}
	shut := w.publish.NotifyClose(make(chan *amqp.Error, 1))
	go func() { w.End(cause(<-shut)) }()
	blocked := w.NotifyBlocked(make(chan amqp.Blocking, 64))
	go func() {
		release := func() {}
		for b := range blocked {
			// Also when it blocks for one more reason: that is one hold.
			release()
			if b.Active {
				release = l.session.Hold()
				l.session.Report("the broker blocks publishers", errors.New(b.Reason))
			}
		}
		release()
	}()
}

// wires are what links have now; nil links have none.
func wires(links []*link) (all []*wire) {
	for _, l := range links {
		if l == nil {
			continue
		}
		if w, is := l.Now(); is {
			all = append(all, w)
		}
	}
	return all
}

// Close says goodbye within a time limit, and then closes the socket, with or without an answer.
func (w *wire) Close() {
	deadline.AtMost(2*closeGrace, func() { _ = w.CloseDeadline(time.Now().Add(closeGrace)) })
	_ = w.raw.Close()
}

func (l *link) wired() (*wire, error) {
	w, is := l.Now()
	if !is {
		return nil, errNotConnected
	}
	return w, nil
}

// declare runs a declaration for each name until ctx ends, several at once, each on a separate channel.
func (w *wire) declare(ctx context.Context, names []string, run func(on *amqp.Channel, name string) error) error {
	parts := slices.Chunk(names, max(1, (len(names)+deadline.AtOnce-1)/deadline.AtOnce))
	return deadline.Each(ctx, slices.Collect(parts), func(ctx context.Context, part []string) error {
		return within(ctx, func() error {
			on, err := w.Channel()
			if err != nil {
				return fmt.Errorf("open a channel: %w", err)
			}
			defer on.Close()
			for _, name := range part {
				if err := run(on, name); err != nil || ctx.Err() != nil {
					return err
				}
			}
			return nil
		})
	})
}

func deleteQueue(on *amqp.Channel, name string) error {
	_, err := on.QueueDelete(name, false, false, false)
	return broker.Wrap(fmt.Sprintf("delete queue %q", name), err)
}

func deleteExchange(on *amqp.Channel, name string) error {
	return broker.Wrap(fmt.Sprintf("delete exchange %q", name), on.ExchangeDelete(name, false, false))
}

// --- internal ---

var (
	errNotConnected = errors.New("not connected")
	errHungUp       = errors.New("the broker hung up")
)

// within waits for run no longer than ctx lasts: the library's calls take no context.
func within(ctx context.Context, run func() error) error {
	err := deadline.While(ctx, run)
	if err != nil && err == ctx.Err() {
		return fmt.Errorf("no answer: %w", err)
	}
	return err
}

// cause of a closed channel. The library reports an end without a reason as nil, and its own errors look like the broker's.
func cause(err *amqp.Error) error {
	switch {
	case err == nil:
		return errHungUp
	case err.Server:
		return err
	}
	return address.Cause(errors.New(err.Reason))
}

// explain adds the remedy to RabbitMQ's error about shared transient queues.
func explain(err error) error {
	if err != nil && strings.Contains(err.Error(), "transient_nonexcl_queues") {
		return fmt.Errorf("%w (this broker refuses transient queues that consumers share; permit them in its rabbitmq.conf: "+
			"deprecated_features.permit.transient_nonexcl_queues = true, or use durability: os)", err)
	}
	return err
}
