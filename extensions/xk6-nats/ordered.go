package nats

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// ordered reads a stream in order, without acknowledgements and without gaps. If its consumer on the server is gone or has skipped
// something, another one continues behind the last message that was handed over.
//
// The library has the same (OrderedConsumer), but asks for the same consumer again, every ten seconds. If the cluster has placed that on
// the node that has just died, it gets nothing until the node is back.
type ordered struct {
	session    *jetStreamSession
	connection int
	at         location
	handle     broker.Handler

	// busy is held while a message is handed over.
	busy sync.Mutex
	// next is the stream's sequence of the next message, 0 for the first one in the stream.
	next uint64
	// stored is when the last message was stored, by the server's clock.
	stored time.Time

	current atomic.Pointer[reading]
}

// reading is a consumer's name on the server, and the library's side of it. It ends when another one is needed; later deliveries are ignored.
type reading struct {
	jetstream.ConsumeContext
	broker.Lifetime
	name string
	// delivered is the consumer's last sequence.
	delivered uint64
}

var errGap = errors.New("messages are missing")

const (
	// remakeTimeout is how long the server may take to make another consumer before we ask for one under another name.
	remakeTimeout = 2 * time.Second
	remakePause   = 100 * time.Millisecond
)

func (s *jetStreamSession) ordered(ctx context.Context, to broker.Subscription, at location, handle broker.Handler) (consumer, error) {
	o := &ordered{session: s, connection: to.Connection, at: at, handle: handle}
	if s.Found() && !to.FromStart {
		state, err := s.state(ctx, to.Connection, at)
		if err != nil {
			return consumer{}, err
		}
		o.next, o.stored = state.LastSeq+1, state.LastTime
	}
	if err := s.patiently(ctx, o.make); err != nil {
		return consumer{}, err
	}
	go o.run()
	return consumer{name: func() string { return o.current.Load().name }, stop: func() { o.current.Load().Stop() }}, nil
}

// --- internal ---

// make makes the next consumer, which starts where the last one ended.
func (o *ordered) make(ctx context.Context) error {
	o.busy.Lock()
	next, stored := o.next, o.stored
	o.busy.Unlock()
	config := jetstream.ConsumerConfig{
		Name:              nuid.Next(),
		DeliverPolicy:     jetstream.DeliverAllPolicy,
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: unusedAfter,
		MemoryStorage:     true,
		Replicas:          1,
		FilterSubject:     o.at.filter,
	}
	if next > 0 {
		state, err := o.session.state(ctx, o.connection, o.at)
		switch {
		case err != nil:
			return err
		case state.LastSeq+1 >= next:
			config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, next
		case !stored.IsZero():
			// The stream has lost its end, if not everything, and numbers new messages from there.
			since := stored.Add(1)
			config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
		}
	}
	made, err := o.session.js[o.connection].CreateConsumer(ctx, o.at.stream, config)
	if err != nil {
		return err
	}
	r := &reading{Lifetime: broker.NewLifetime(o.session.Over), name: config.Name}
	if r.ConsumeContext, err = made.Consume(o.take(r), o.session.pullOptions(o.failed(r))...); err != nil {
		return err
	}
	o.current.Store(r)
	if o.session.IsQuiet() {
		r.Stop()
	}
	return nil
}

func (o *ordered) take(r *reading) jetstream.MessageHandler {
	return func(m jetstream.Msg) {
		nowNs := o.session.Now()
		o.session.deliveries.taken.Add(1)
		o.busy.Lock()
		defer o.busy.Unlock()
		if r.Err() != nil {
			return
		}
		metadata, err := m.Metadata()
		if err != nil || metadata.Sequence.Consumer != r.delivered+1 {
			r.End(errGap)
			return
		}
		r.delivered, o.next, o.stored = metadata.Sequence.Consumer, metadata.Sequence.Stream+1, metadata.Timestamp
		o.handle(broker.Delivery{ReceivedNs: nowNs, Payload: m.Data()})
	}
}

func (o *ordered) failed(r *reading) func(jetstream.ConsumeContext, error) {
	return func(from jetstream.ConsumeContext, err error) {
		o.session.troubled(from, err)
		if errors.Is(err, jetstream.ErrNoHeartbeat) || errors.Is(err, jetstream.ErrConsumerDeleted) || errors.Is(err, nats.ErrNoResponders) {
			r.End(err)
		}
	}
}

// run replaces consumers until the session ends. Every reconnect needs another one: messages that the server sent during the break are
// lost, and perhaps no later message shows the gap.
func (o *ordered) run() {
	reconnects := o.session.all[o.connection].StatusChanged(nats.CONNECTED)
	for {
		gone := o.current.Load()
		select {
		case <-reconnects:
		case <-gone.Done():
		}
		if o.session.IsQuiet() {
			return
		}
		o.session.deliveries.uncertain.Store(true)
		gone.End(nil)
		gone.Stop()
		go func() { // else the server keeps it for a while, like a consumer whose request had no answer
			ctx, cancel := context.WithTimeout(context.Background(), apiTimeout)
			defer cancel()
			_ = o.session.js[o.connection].DeleteConsumer(ctx, o.at.stream, gone.name)
		}()
		var told sync.Once
		_ = deadline.Retry(o.session.Over, 0, remakePause, func() error {
			if o.session.IsQuiet() {
				return nil
			}
			ctx, cancel := context.WithTimeout(context.Background(), remakeTimeout)
			defer cancel()
			err := o.make(ctx)
			if err != nil {
				told.Do(func() { o.session.Report("make another consumer", err) })
			}
			return err
		})
	}
}
