package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// link is one of the run's connections, by number: the current wire, and a new one when that is lost.
type link struct {
	broker.Link[*wire]
	session *session
	number  int
	// attempts to connect choose one node of a cluster after the other.
	attempts int

	mu            sync.Mutex
	subscriptions []*subscription
}

// wire is two TCP connections to the same broker, one to publish and one to consume. They are lost together.
//
// Two, as RabbitMQ's authors advise: the broker stops reading a connection that publishes more than the queues take (its flow control), and
// would not read the acknowledgements of its consumers either, which then get nothing.
type wire struct {
	link *link
	// attempt has chosen the node.
	attempt int
	sending *socket
	publish *amqp.Channel
	// receiving is nil until there is a consumer; opening is held while it is made.
	receiving atomic.Pointer[socket]
	opening   sync.Mutex
	// over is closed when the library has said why the wire is lost. unconfirmed is then the error of what was sent on it.
	over        chan struct{}
	unconfirmed error
	// failed: we have given it up. Guarded by the link's mu. lost is closed then, unless we have hung up; reason is why.
	failed bool
	lost   chan struct{}
	reason error
}

func (w *wire) Done() <-chan struct{} { return w.lost }
func (w *wire) Err() error            { return w.reason }

func (s *session) link(number int) *link {
	return &link{Link: broker.Link[*wire]{First: reconnectDelay, Wait: reconnectDelay}, session: s, number: number}
}

// open makes the first wire.
func (l *link) open(ctx context.Context) error { return l.Open(ctx, l.session.Base, l.made) }

// made is a wire with everything that the link has.
func (l *link) made(ctx context.Context) (*wire, error) {
	w, err := l.dial(ctx, l.attempts)
	l.attempts++
	if err != nil {
		return nil, err
	}
	if l.attempts > 1 {
		if err := l.restore(w); err != nil {
			w.cut()
			return nil, err
		}
	}
	w.watch()
	return w, nil
}

// socket is a connection of the library, and what it reads from.
type socket struct {
	*amqp.Connection
	raw *incoming
}

// channel for declarations.
type channel struct{ *amqp.Channel }

// dial makes a wire. attempt chooses the node of a cluster.
func (l *link) dial(ctx context.Context, attempt int) (*wire, error) {
	w := &wire{link: l, attempt: attempt, over: make(chan struct{}), lost: make(chan struct{}), unconfirmed: errUnknown}
	var err error
	if w.sending, err = l.connect(ctx, attempt, ""); err != nil {
		return nil, err
	}
	if w.publish, err = w.sending.Channel(); err == nil && l.session.chosen.confirms {
		err = w.publish.Confirm(false)
	}
	if err != nil {
		_ = w.sending.raw.Close()
		return nil, fmt.Errorf("open a channel: %w", err)
	}
	return w, nil
}

// connect makes one of a wire's connections, which the broker lists under the link's number and purpose.
func (l *link) connect(ctx context.Context, attempt int, purpose string) (*socket, error) {
	s, made := l.session, &socket{}
	url := s.urls[(l.number+attempt)%len(s.urls)]
	config := amqp.Config{
		Locale:     "en_US",
		Heartbeat:  heartbeat,
		FrameSize:  frameMaxBytes,
		ChannelMax: channelMax,
		Properties: amqp.NewConnectionProperties(),
		Dial: func(network, address string) (net.Conn, error) {
			dialer := net.Dialer{Timeout: dialTimeout}
			raw, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			made.raw = &incoming{Conn: raw, encrypted: s.secure(), alone: map[uint64]bool{}}
			// The library clears it when the connection is open.
			return made.raw, raw.SetDeadline(time.Now().Add(dialTimeout))
		},
	}
	config.Properties.SetClientConnectionName("mqbench-" + strconv.Itoa(l.number) + purpose)
	if s.tls != nil {
		config.TLSClientConfig = s.tls.Clone()
		url = strings.Replace(url, "amqp://", "amqps://", 1)
	}
	var err error
	if made.Connection, err = amqp.DialConfig(url, config); err != nil {
		if made.raw != nil {
			_ = made.raw.Close()
		}
		return nil, address.Cause(err)
	}
	return made, nil
}

// consumer returns the connection to consume, which the first call makes.
func (w *wire) consumer() (*socket, error) {
	w.opening.Lock()
	defer w.opening.Unlock()
	if made := w.receiving.Load(); made != nil {
		return made, nil
	}
	made, err := w.link.connect(w.link.session.Over, w.attempt, "-consumers")
	if err != nil {
		return nil, err
	}
	w.link.mu.Lock()
	defer w.link.mu.Unlock()
	if w.failed || w.link.session.Over.Err() != nil {
		_ = made.raw.Close()
		return nil, errHungUp
	}
	w.receiving.Store(made)
	return made, nil
}

// watch sees the wire's end.
func (w *wire) watch() {
	l := w.link
	// Close says goodbye first, to the wire that it knows.
	context.AfterFunc(l.session.Over, func() { time.AfterFunc(2*closeGrace, w.cut) })
	lost := w.sending.NotifyClose(make(chan *amqp.Error, 1))
	shut := w.publish.NotifyClose(make(chan *amqp.Error, 1))
	blocked := w.sending.NotifyBlocked(make(chan amqp.Blocking, 64))
	go func() {
		select {
		case err := <-lost:
			close(w.over)
			w.fail(cause(err))
		case err := <-shut:
			if tooLarge(err) {
				w.unconfirmed = fmt.Errorf("rabbitmq: publish: the broker refuses the message and closes the channel: %s", err.Reason)
			}
			close(w.over)
			w.fail(cause(err))
		}
	}()
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

// fail gives the wire up, so that the link makes a new one.
//
// Subtle: only closing the socket frees a publish that the broker has blocked; the library itself would wait for it.
func (w *wire) fail(err error) {
	w.link.mu.Lock()
	again := w.failed
	w.failed = true
	w.link.mu.Unlock()
	if again {
		return
	}
	w.cut()
	w.reason = err
	close(w.lost)
}

// close says goodbye within a time limit, and then closes the socket, with or without an answer.
func (l *link) close() {
	if w, is := l.Now(); is {
		w.hangUp()
	}
}

func (w *wire) hangUp() {
	// A consumer's end is no reason to cut off the publisher, which has not said goodbye yet.
	w.link.mu.Lock()
	w.failed = true
	w.link.mu.Unlock()
	deadline.AtMost(2*closeGrace, func() {
		by := time.Now().Add(closeGrace)
		if made := w.receiving.Load(); made != nil {
			_ = made.CloseDeadline(by)
		}
		_ = w.sending.CloseDeadline(by)
	})
	w.cut()
}

// cut closes the sockets, whatever the library or the broker waits for.
func (w *wire) cut() {
	_ = w.sending.raw.Close()
	if made := w.receiving.Load(); made != nil {
		_ = made.raw.Close()
	}
}

// admin runs declarations on a channel of the link's wire until ctx ends.
func (s *session) admin(ctx context.Context, l *link, run func(*channel) error) error {
	w, is := l.Now()
	if !is {
		return errNotConnected
	}
	return within(ctx, func() error { return w.sending.declare(run) })
}

// asOwner runs declarations for a queue on the connection that has declared it: no other one may touch an exclusive queue.
func (s *session) asOwner(ctx context.Context, q *queue, run func(*channel) error) error {
	if q.on == nil {
		return s.admin(ctx, s.links[0], run)
	}
	w, is := q.on.Now()
	if !is {
		return errNotConnected
	}
	return within(ctx, func() error {
		owner, err := w.consumer()
		if err != nil {
			return err
		}
		return owner.declare(run)
	})
}

// atOnce is how many declarations wait for the broker at the same time.
const atOnce = 64

// all runs a declaration for each item on the link's wire, several at once, each on a channel of its own.
func all[T any](ctx context.Context, l *link, items []T, run func(*channel, T) error) error {
	channels := min(atOnce, len(items))
	return deadline.Each(ctx, channels, channels, func(ctx context.Context, k int) error {
		return l.session.admin(ctx, l, func(on *channel) error {
			for i := k; i < len(items) && ctx.Err() == nil; i += channels {
				if err := run(on, items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// alone runs declarations on a connection of their own.
func (s *session) alone(ctx context.Context, run func(*link) error) error {
	l := s.link(len(s.links))
	if err := l.open(ctx); err != nil {
		return err
	}
	defer l.close()
	return run(l)
}

func (s *socket) declare(run func(*channel) error) error {
	on, err := s.Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	defer on.Close()
	return run(&channel{on})
}

func (c *channel) deleteQueue(name string) error {
	if _, err := c.QueueDelete(name, false, false, false); err != nil {
		return fmt.Errorf("delete queue %q: %w", name, err)
	}
	return nil
}

func (c *channel) deleteExchange(name string) error {
	if err := c.ExchangeDelete(name, false, false); err != nil {
		return fmt.Errorf("delete exchange %q: %w", name, err)
	}
	return nil
}

// --- internal ---

var (
	errNotConnected = errors.New("not connected")
	errHungUp       = errors.New("the broker hung up")
)

// restore declares everything again, since a restarted broker has forgotten what is not durable, and consumes again.
func (l *link) restore(w *wire) error {
	t := l.session.topology
	err := w.sending.declare(func(on *channel) error {
		if err := t.declareExchanges(on); err != nil {
			return err
		}
		for _, q := range t.all(l) {
			if q.exclusive {
				continue // its subscription has declared it
			}
			if err := t.declareQueue(on, q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	subscriptions := slices.Clone(l.subscriptions)
	l.mu.Unlock()
	for _, sub := range subscriptions {
		if err := sub.start(w); err != nil {
			return err
		}
	}
	return nil
}

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

// tooLarge: the broker has refused a message for its size, and reads nothing more on that channel. All messages of a run have one size, so
// it has refused all of them.
func tooLarge(err *amqp.Error) bool {
	return err != nil && err.Server && err.Code == amqp.PreconditionFailed && strings.Contains(err.Reason, "message size")
}

// explain adds what to do to RabbitMQ's error about shared transient queues.
func explain(err error) error {
	if strings.Contains(err.Error(), "transient_nonexcl_queues") {
		return fmt.Errorf("%w (this broker refuses transient queues that consumers share; permit them in its rabbitmq.conf: "+
			"deprecated_features.permit.transient_nonexcl_queues = true, or use durability: os)", err)
	}
	return err
}

func (s *session) secure() bool { return s.tls != nil || strings.HasPrefix(s.urls[0], "amqps://") }
