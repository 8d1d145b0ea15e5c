package nats

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// leastPending is the library's own limit of acknowledgements outstanding; noPending stands for none.
	leastPending = 4000
	noPending    = 1 << 30
	// noTimeout is for a plan without a timeout.
	noTimeout = time.Hour
)

// producer publishes to streams. Each message is acknowledged when it is stored as the stream's and the server's settings say.
type producer struct {
	session *jetStreamSession
	// js is set once the connection is open.
	js    jetstream.JetStream
	sync  bool
	stall jetstream.PublishOpt

	mu sync.Mutex
	// pending are messages that the library has and that are not acknowledged.
	pending map[*nats.Msg]outgoing
}

type outgoing struct {
	message *broker.Message
	done    broker.Done
}

var (
	_ broker.Producer = (*producer)(nil)

	errLost = fmt.Errorf("nats: connection lost: %w", broker.ErrUnknown)
	noRetry = jetstream.WithRetryAttempts(0)
)

func newProducer(s *jetStreamSession) *producer {
	return &producer{
		session: s, sync: s.publish() == "sync", stall: jetstream.WithStallWait(s.timeout()), pending: map[*nats.Msg]outgoing{},
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
			p.settle(m, 0, published(err))
		}),
	}
}

// Send publishes. Asynchronously it returns when the library has the message: that blocks while as many acknowledgements are
// outstanding as it was told to allow. Synchronously it blocks for the acknowledgement.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	out := &nats.Msg{Subject: m.Name, Data: m.Payload}
	if p.session.own.Dedup {
		out.Header = nats.Header{jetstream.MsgIDHeader: {strconv.FormatInt(m.Index, 10)}}
	}
	if p.sync {
		ctx, cancel := context.WithTimeout(context.Background(), p.session.timeout())
		ack, err := p.js.PublishMsg(ctx, out, noRetry)
		at := p.session.Now()
		cancel()
		if err == nil {
			err = refused(ack)
		} else {
			err = published(err)
		}
		if err != nil {
			at = 0
		}
		done(m, at, err)
		return
	}
	p.mu.Lock()
	p.pending[out] = outgoing{m, done}
	p.mu.Unlock()
	if _, err := p.js.PublishMsgAsync(out, noRetry, p.stall); err != nil {
		p.settle(out, 0, published(err))
	}
}

// disconnected completes what is outstanding: its acknowledgements would go to a connection that is no more, and the library tells
// only when the new one is closed.
func (p *producer) disconnected() {
	p.mu.Lock()
	all := p.pending
	p.pending = map[*nats.Msg]outgoing{}
	p.mu.Unlock()
	for _, one := range all {
		one.done(one.message, 0, errLost)
	}
}

// --- internal ---

// settle calls done, once.
func (p *producer) settle(m *nats.Msg, ackNs int64, err error) {
	p.mu.Lock()
	one, ok := p.pending[m]
	delete(p.pending, m)
	p.mu.Unlock()
	if !ok {
		return
	}
	if err != nil {
		ackNs = 0
	}
	one.done(one.message, ackNs, err)
}

// refused: the server takes an id that it knows for a message sent twice, and stores nothing. Ours are sent once.
func refused(ack *jetstream.PubAck) error {
	if ack.Duplicate {
		return fmt.Errorf("nats: publish: the stream %s takes it for a duplicate of an earlier message", ack.Stream)
	}
	return nil
}

func (s *jetStreamSession) publish() string {
	if s.own.Publish == "sync" {
		return "sync"
	}
	return "async"
}

// maxPending leaves room for messages that were received before they are acknowledged: they have left flight already.
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

func (s *jetStreamSession) timeoutText() string { return s.timeout().String() }
