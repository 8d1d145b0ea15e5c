package rabbitmq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// producer publishes on the channel of one connection.
type producer struct {
	session *session
	link    *link
	mode    uint8
	// waiters is by topic.
	waiters []*waiter
}

func newProducer(s *session, l *link) *producer {
	return &producer{session: s, link: l, mode: s.chosen.deliveryMode(), waiters: make([]*waiter, len(s.topology.topics))}
}

// Send publishes and flushes. It blocks while the broker does not read (its flow control). Without confirms that is all.
//
// If the connection is lost before a message was confirmed, the message may have arrived. It is then reported as unknown, neither
// acknowledged nor failed.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	w, is := p.link.Now()
	if !is {
		done(m, 0, errPublish)
		return
	}
	exchange, key := p.session.topology.route(m.Name)
	confirmation, err := w.publish.PublishWithDeferredConfirm(exchange, key, false, false, amqp.Publishing{
		DeliveryMode: p.mode, Body: m.Payload,
	})
	switch {
	case errors.Is(err, amqp.ErrClosed):
		done(m, 0, errPublish)
	case err != nil:
		// The last bytes did not leave, and the broker ignores incomplete messages.
		done(m, 0, fmt.Errorf("rabbitmq: publish: %w", address.Cause(err)))
	case confirmation == nil:
		done(m, 0, nil)
	default:
		p.waiter(m.Topic).add(pending{m, done, confirmation, w.publish, w})
	}
}

// incoming is a socket as the library reads it, with three things that the library has not:
//
// It keeps the time limit of a read by itself. The library extends it in the goroutine that sends heartbeats, and that one waits while a
// publish does that the broker has blocked: after three heartbeats the library takes a broker for dead that has sent all of its own.
//
// It counts deliveries. The library has them wait in a queue without end, and does not say how many there are.
//
// It takes confirmations apart that stand for several messages. For each of them the library looks at all that is not confirmed yet, and lets
// nothing be published meanwhile: with 400 000 of them, which a burst has, that was a whole core for 5000 messages a second, and the broker
// got no more work (and, after 30 s, no heartbeat).
//
// What is encrypted passes as it is.
type incoming struct {
	net.Conn
	encrypted bool
	// patience is how long a read may take; 0: no limit.
	patience atomic.Int64
	// read is how many deliveries the library has read, taken how many it has handed over.
	read, taken atomic.Int64

	// Below for the reader alone. out[from:] waits to be read.
	out  []byte
	from int
	// frame is the beginning of one whose kind is not known yet, or of a confirmation; rest is how much of another one is to come.
	frame []byte
	rest  int
	// All tags up to confirmed are, and those above it that were alone.
	confirmed uint64
	alone     map[uint64]bool
}

// A frame is 1 byte of type, 2 of channel, 4 of size, so many of content, and 1 more. A method's content begins with its class and number; a
// confirmation goes on with 8 bytes of tag, and 1 whose lowest bit says whether it is for all messages up to that tag.
const (
	methodFrame = 1
	headBytes   = 7
	tagAt       = headBytes + 4
	severalAt   = tagAt + 8
)

// Class 60 is basic: methods deliver, ack and nack.
const (
	deliver = 60<<16 | 60
	ack     = 60<<16 | 80
	nack    = 60<<16 | 120
)

// SetReadDeadline tells how long the library waits for a sign of life: no read that begins later may take longer.
func (in *incoming) SetReadDeadline(t time.Time) error {
	in.patience.Store(int64(time.Until(t)))
	return in.Conn.SetReadDeadline(t)
}

func (in *incoming) Read(into []byte) (int, error) {
	if in.encrypted {
		return in.receive(into)
	}
	for in.from == len(in.out) {
		in.out, in.from = in.out[:0], 0
		n, err := in.receive(into)
		in.scan(into[:n])
		if err != nil && len(in.out) == 0 {
			return 0, err
		}
	}
	n := copy(into, in.out[in.from:])
	in.from += n
	return n, nil
}

// held is how many deliveries wait in the library.
func (in *incoming) held() int64 { return -in.taken.Load() + in.read.Load() }

// --- internal ---

var (
	errPublish = errors.New("rabbitmq: publish: not connected")
	errRefused = errors.New("rabbitmq: publish: the broker refused the message (nack)")
	errUnknown = fmt.Errorf("rabbitmq: connection lost: %w", broker.ErrUnknown)
)

func (c choices) deliveryMode() uint8 {
	if c.persistent {
		return amqp.Persistent
	}
	return amqp.Transient
}

func (p *producer) waiter(topic int) *waiter {
	if p.waiters[topic] == nil {
		p.waiters[topic] = &waiter{now: p.session.Now, ended: p.session.Over.Done(), wake: make(chan struct{}, 1)}
		go p.waiters[topic].run()
	}
	return p.waiters[topic]
}

// waiter waits for the confirmations of one topic on one connection.
//
// The library's own listeners (NotifyPublish) return confirmations in the order of publishing, so that one slow queue would make all
// others look slow. A queue confirms in order, so with one waiter for each queue no queue waits for another.
type waiter struct {
	now   func() int64
	ended <-chan struct{}
	wake  chan struct{}
	mu    sync.Mutex
	queue []pending
	over  bool
}

type pending struct {
	message      *broker.Message
	done         broker.Done
	confirmation *amqp.DeferredConfirmation
	on           *amqp.Channel
	wire         *wire
}

func (w *waiter) add(p pending) {
	w.mu.Lock()
	over := w.over
	if !over {
		w.queue = append(w.queue, p)
	}
	w.mu.Unlock()
	if over {
		p.done(p.message, 0, errUnknown)
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run ends with the session.
func (w *waiter) run() {
	var batch []pending
	for {
		w.mu.Lock()
		batch, w.queue = w.queue, batch[:0]
		w.mu.Unlock()
		for i, p := range batch {
			select {
			case <-p.confirmation.Done():
			case <-w.ended:
				w.conclude(batch[i:])
				return
			}
			switch {
			case p.confirmation.Acked():
				p.done(p.message, w.now(), nil)
			case p.on.IsClosed():
				// Subtle: when a channel is closed the library reports everything that was pending as refused.
				<-p.wire.over
				p.done(p.message, 0, p.wire.unconfirmed)
			default:
				p.done(p.message, 0, errRefused)
			}
			batch[i] = pending{}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-w.wake:
		case <-w.ended:
			w.conclude(nil)
			return
		}
	}
}

// conclude completes the messages whose confirmation will not come.
func (w *waiter) conclude(batch []pending) {
	w.mu.Lock()
	w.over = true
	rest := w.queue
	w.mu.Unlock()
	for _, list := range [][]pending{batch, rest} {
		for _, p := range list {
			p.done(p.message, 0, errUnknown)
		}
	}
}

func (in *incoming) receive(into []byte) (int, error) {
	if limit := time.Duration(in.patience.Load()); limit > 0 {
		if err := in.Conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
			return 0, err
		}
	}
	return in.Conn.Read(into)
}

// scan goes through what was read, which may end anywhere in a frame.
func (in *incoming) scan(b []byte) {
	for len(b) > 0 {
		if in.rest > 0 {
			n := min(in.rest, len(b))
			in.out = append(in.out, b[:n]...)
			in.rest -= n
			b = b[n:]
			continue
		}
		n := min(in.wanted()-len(in.frame), len(b))
		in.frame = append(in.frame, b[:n]...)
		b = b[n:]
		if len(in.frame) < in.wanted() {
			continue
		}
		if in.isConfirmation() {
			in.confirm()
		} else {
			if in.method() == deliver {
				in.read.Add(1)
			}
			in.out = append(in.out, in.frame...)
			in.rest = in.size() - len(in.frame)
		}
		in.frame = in.frame[:0]
	}
}

// wanted is how much of a frame has to be there to know more of it.
func (in *incoming) wanted() int {
	switch {
	case len(in.frame) < headBytes:
		return headBytes
	case in.frame[0] == methodFrame && len(in.frame) < tagAt:
		return tagAt
	case in.isConfirmation():
		return in.size()
	}
	return len(in.frame)
}

func (in *incoming) size() int { return headBytes + int(binary.BigEndian.Uint32(in.frame[3:])) + 1 }

// method is 0 where the frame is none, or too short to know.
func (in *incoming) method() uint32 {
	if len(in.frame) < tagAt || in.frame[0] != methodFrame {
		return 0
	}
	return binary.BigEndian.Uint32(in.frame[headBytes:])
}

func (in *incoming) isConfirmation() bool {
	method := in.method()
	return (method == ack || method == nack) && in.size() > severalAt
}

// confirm passes a confirmation on, or one for each of the messages that it stands for.
func (in *incoming) confirm() {
	tag := binary.BigEndian.Uint64(in.frame[tagAt:])
	if in.frame[severalAt]&1 == 0 {
		in.out = append(in.out, in.frame...)
		in.alone[tag] = true
	} else {
		in.frame[severalAt] &^= 1
		for ; in.confirmed < tag; in.confirmed++ {
			next := in.confirmed + 1
			if in.alone[next] {
				delete(in.alone, next)
				continue
			}
			binary.BigEndian.PutUint64(in.frame[tagAt:], next)
			in.out = append(in.out, in.frame...)
		}
	}
	for ; in.alone[in.confirmed+1]; in.confirmed++ {
		delete(in.alone, in.confirmed+1)
	}
}
