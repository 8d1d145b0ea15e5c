package nats

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	// leastPending is the library's own limit of outstanding acknowledgements; noPending means no limit.
	leastPending = 4000
	noPending    = 1 << 30
	// noTimeout is for a plan without a timeout.
	noTimeout = time.Hour
)

// producer publishes to streams. Each message is acknowledged when it is stored as the settings of stream and server say.
type producer struct {
	session *jetStreamSession
	// js is set once the connection is open.
	js    jetstream.JetStream
	sync  bool
	stall jetstream.PublishOpt

	mu sync.Mutex
	// pending has the messages that the library got and that are not acknowledged.
	pending map[*nats.Msg]*outgoing
}

// outgoing is a message with what the library gets.
type outgoing struct {
	nats.Msg
	message *broker.Message
	done    broker.Done
	// future is the library's jetstream.PubAckFuture, once there is one.
	future atomic.Value
}

var (
	_ broker.Producer = (*producer)(nil)

	errLost       = fmt.Errorf("nats: connection lost: %w", broker.ErrUnknown)
	errUnanswered = fmt.Errorf("nats: publish: not acknowledged within the timeout: %w", broker.ErrUnknown)
	noRetry       = jetstream.WithRetryAttempts(0)
)

func newProducer(s *jetStreamSession) *producer {
	return &producer{
		session: s, sync: s.own.Publish == "sync", stall: jetstream.WithStallWait(s.timeout()), pending: map[*nats.Msg]*outgoing{},
	}
}

// options are those of the library's asynchronous publishing.
func (p *producer) options() []jetstream.JetStreamOpt {
	return []jetstream.JetStreamOpt{
		jetstream.WithDefaultTimeout(apiTimeout),
		jetstream.WithPublishAsyncMaxPending(p.session.maxPending()),
		jetstream.WithPublishAsyncTimeout(p.session.timeout()),
		jetstream.WithPublishAsyncAckHandler(func(_ jetstream.JetStream, m *nats.Msg, ack *jetstream.PubAck) {
			at := p.session.Now()
			p.settle(m, at, refused(ack))
		}),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, m *nats.Msg, err error) {
			p.settle(m, 0, failure(err))
		}),
	}
}

// Send publishes. Asynchronously it returns when the library has the message; it blocks while the allowed number of acknowledgements is
// outstanding. Synchronously it blocks until the acknowledgement.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	out := &outgoing{Msg: nats.Msg{Subject: p.session.subjects[m.Topic], Data: m.Payload}, message: m, done: done}
	if p.session.own.Dedup {
		// A stream of the user's own may still remember the ids of an earlier run.
		out.Header = nats.Header{jetstream.MsgIDHeader: {p.session.Run + strconv.FormatInt(m.Index, 10)}}
	}
	if p.sync {
		ctx, cancel := context.WithTimeout(context.Background(), p.session.timeout())
		ack, err := p.js.PublishMsg(ctx, &out.Msg, noRetry)
		at := p.session.Now()
		cancel()
		if err == nil {
			err = refused(ack)
		} else {
			err = failure(err)
		}
		done.Settle(m, at, err)
		return
	}
	// The library finds this out only after it has armed a timer, which keeps the message until the timeout is over: a broker that stays
	// away would fill the memory.
	if p.js.Conn().IsReconnecting() {
		done(m, 0, errNotConnected)
		return
	}
	p.mu.Lock()
	p.pending[&out.Msg] = out
	p.mu.Unlock()
	future, err := p.js.PublishMsgAsync(&out.Msg, noRetry, p.stall)
	if err != nil {
		p.settle(&out.Msg, 0, failure(err))
		return
	}
	out.future.Store(future)
}

// disconnected completes what was outstanding when the connection was lost. The library gives these messages up at that moment or a little
// later, together with some that were already sent on the new connection, but it reports that only when the new one is closed. So we
// ask it, several times.
func (p *producer) disconnected() {
	for _, pause := range []time.Duration{0, 10 * time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond, time.Second, 2 * time.Second} {
		if deadline.Sleep(p.session.Over, pause) != nil {
			return
		}
		for _, one := range p.outstanding() {
			future, ok := one.future.Load().(jetstream.PubAckFuture)
			if !ok {
				continue
			}
			select {
			case err := <-future.Err():
				p.settle(&one.Msg, 0, failure(err))
			default:
			}
		}
	}
}

// giveUp completes everything that is outstanding when the session is closed.
func (p *producer) giveUp() {
	for _, one := range p.outstanding() {
		p.settle(&one.Msg, 0, errLost)
	}
}

// --- internal ---

// outstanding returns a copy, because the library calls settle while it holds a lock of its own.
func (p *producer) outstanding() []*outgoing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.pending))
}

// settle calls done, once.
func (p *producer) settle(m *nats.Msg, ackNs int64, err error) {
	p.mu.Lock()
	one, ok := p.pending[m]
	delete(p.pending, m)
	p.mu.Unlock()
	if ok {
		one.done.Settle(one.message, ackNs, err)
	}
}

// failure rewords the library's error of a publish to a stream.
func failure(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrAsyncPublishTimeout), errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return errUnanswered
	case errors.Is(err, nats.ErrDisconnected):
		return errLost
	}
	return published(err)
}

// refused: the server takes an id that it knows for a second copy and stores nothing. We send each id once.
func refused(ack *jetstream.PubAck) error {
	if ack.Duplicate {
		return fmt.Errorf("nats: publish: the stream %s takes it for a duplicate of an earlier message", ack.Stream)
	}
	return nil
}

// maxPending also counts messages that were received before their acknowledgement: those have left flight.
func (s *jetStreamSession) maxPending() int {
	if s.InFlight == 0 {
		return noPending
	}
	return max(leastPending, int(min(2*s.InFlight, noPending)))
}

func (s *jetStreamSession) timeout() time.Duration {
	if s.TimeoutNs == 0 {
		return noTimeout
	}
	return time.Duration(s.TimeoutNs)
}
