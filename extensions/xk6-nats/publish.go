package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// leastPending is the library's own limit of outstanding acknowledgements; noPending means no limit.
	leastPending = 4000
	noPending    = 1 << 30
	// noTimeout is for a plan without a timeout.
	noTimeout = time.Hour
)

// producer publishes to streams. Each message is acknowledged when it is stored according to the settings of stream and server.
type producer struct {
	session *jetStreamSession
	// js is set once the connection is open.
	js jetstream.JetStream
	mu sync.Mutex
	// pending has the messages that the library got and that are not acknowledged.
	pending map[*nats.Msg]sending
	// batches is nil where each message is acknowledged by itself.
	batches *batches
}

type sending struct {
	message *broker.Message
	done    broker.Done
}

var (
	// A Send may fail with the same error for each message, so none is formatted there.
	errNotConnected = errors.New("nats: publish: not connected")
	errLost         = fmt.Errorf("nats: connection lost: %w", broker.ErrUnknown)
	errUnanswered   = fmt.Errorf("nats: publish: not acknowledged within the timeout: %w", broker.ErrUnknown)
	// errTooLarge comes from the library, which checks the server's max_payload, and has no way to send more.
	errTooLarge = fmt.Errorf("nats: publish: %w", broker.RefusedHere("nats.go", nats.ErrMaxPayload))
	// errDuplicate: the server takes a repeated id for a second copy and stores nothing. We send each id once.
	errDuplicate = errors.New("nats: publish: the stream takes it for a duplicate of an earlier message")

	noRetry = jetstream.WithRetryAttempts(0)
)

func (p *producer) open(connection *nats.Conn) (err error) {
	if own := p.session.own.Publish; own == publishAtomic || own == publishFast {
		if p.batches, err = newBatches(p.session, connection); err != nil {
			return err
		}
	}
	p.js, err = jetstream.New(connection,
		jetstream.WithDefaultTimeout(apiTimeout),
		jetstream.WithPublishAsyncMaxPending(p.session.maxPending()),
		jetstream.WithPublishAsyncTimeout(p.session.timeout()),
		jetstream.WithPublishAsyncAckHandler(func(_ jetstream.JetStream, m *nats.Msg, ack *jetstream.PubAck) {
			p.settle(m, p.session.Now(), outcome(ack, nil))
		}),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, m *nats.Msg, err error) { p.settle(m, 0, published(err)) }),
	)
	return err
}

// Send publishes. It blocks while the allowed number of acknowledgements is outstanding, or synchronously until its own has come.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	out := &nats.Msg{Subject: p.session.streams[m.Name].subject, Data: m.Payload}
	if p.session.own.Dedup {
		// A user's stream may still remember the ids of an earlier run.
		out.Header = nats.Header{jetstream.MsgIDHeader: {p.session.Run + strconv.FormatInt(m.Index, 10)}}
	}
	if p.batches != nil {
		p.batches.send(m, done, out)
		return
	}
	if p.session.own.Publish == "sync" {
		ctx, cancel := context.WithTimeout(context.Background(), p.session.timeout())
		defer cancel()
		ack, err := p.js.PublishMsg(ctx, out, noRetry)
		done.Settle(m, p.session.Now(), outcome(ack, err))
		return
	}
	// The library finds this out after it has armed a timer that keeps the message until the timeout: a broker that stays away would fill the memory.
	if p.js.Conn().IsReconnecting() {
		done(m, 0, errNotConnected)
		return
	}
	p.mu.Lock()
	p.pending[out] = sending{m, done}
	p.mu.Unlock()
	if _, err := p.js.PublishMsgAsync(out, noRetry, p.session.stallWait); err != nil {
		p.settle(out, 0, published(err))
	}
}

// giveUp completes outstanding sends: the connection is lost, and no answer will come. The library reports these messages when it is closed.
func (p *producer) giveUp() {
	p.mu.Lock()
	lost := p.pending
	p.pending = map[*nats.Msg]sending{}
	p.mu.Unlock()
	if p.batches != nil {
		p.batches.giveUp()
	}
	for _, one := range lost {
		one.done(one.message, 0, errLost)
	}
}

// --- internal ---

func (p *producer) settle(m *nats.Msg, ackNs int64, err error) {
	p.mu.Lock()
	one, ok := p.pending[m]
	delete(p.pending, m)
	p.mu.Unlock()
	if ok {
		one.done.Settle(one.message, ackNs, err)
	}
}

func published(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrAsyncPublishTimeout), errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return errUnanswered
	case errors.Is(err, nats.ErrDisconnected):
		return errLost
	case errors.Is(err, nats.ErrReconnectBufExceeded): // a buffer that we have turned off
		return errNotConnected
	case errors.Is(err, nats.ErrMaxPayload):
		return errTooLarge
	}
	return fmt.Errorf("nats: publish: %w", address.Cause(err))
}

func outcome(ack *jetstream.PubAck, err error) error {
	if err == nil && ack.Duplicate {
		return errDuplicate
	}
	return published(err)
}

// maxPending also counts messages that were received before their acknowledgement: those have left flight.
func (s *jetStreamSession) maxPending() int {
	if s.InFlight == 0 {
		return noPending
	}
	return max(leastPending, int(min(2*s.InFlight, noPending)))
}

func (s *jetStreamSession) timeout() time.Duration {
	return cmp.Or(time.Duration(s.TimeoutNs), noTimeout)
}
