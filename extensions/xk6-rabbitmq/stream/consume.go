package stream

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// credits is how many chunks, in which the broker stores and sends messages, may be on their way to a consumer or wait there.
	credits = 10
	// Where a consumer begins: at the next message, or at an offset.
	fromNext   = 3
	fromOffset = 4
)

// subscription is one consumer. It lives as long as the session, on one wire after another.
type subscription struct {
	broker.Subscription
	session *session
	// reference is the name under which the broker stores a group's offset; acknowledge is when.
	reference, acknowledge string
	handle                 broker.Handler
	// busy: the handler may still have a message of an earlier wire. next is the first offset that was not handled.
	busy sync.Mutex
	next atomic.Uint64
}

type chunk struct {
	// first is the offset of the first of the messages.
	first, messages uint64
	data            reader
}

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	l := s.consumers[to.Connection]
	sub := &subscription{Subscription: to, session: s, handle: handle, acknowledge: broker.Automatic}
	if to.Group != "" {
		sub.reference, sub.acknowledge = s.Named(":", to.Group), broker.AcknowledgeOf(s.acknowledge, to.Group)
	}
	w, err := l.wired()
	if err == nil {
		err = sub.start(ctx, w)
	}
	l.subscriptions.Add(sub)
	return broker.Wrap(fmt.Sprintf("rabbitmq: consume %q", to.Topic), err)
}

// start consumes on a wire, from the first message that was not handled. It returns when the broker has confirmed it.
func (sub *subscription) start(ctx context.Context, w *wire) error {
	if sub.next.Load() == 0 && sub.Group != "" {
		said, err := w.ask(ctx, queryOffset, text(text(nil, sub.reference), sub.Topic))
		if err == nil {
			sub.next.Store(said.uint(8) + 1)
		} else if !errors.Is(err, noOffset) {
			return fmt.Errorf("look up the group's offset: %w", err)
		}
	}
	w.mu.Lock()
	number, chunks := byte(len(w.chunks)), make(chan chunk, credits)
	full := len(w.chunks) == mostNumbered
	w.chunks = append(w.chunks, chunks)
	w.mu.Unlock()
	if full {
		return fmt.Errorf("a connection consumes at most %d streams; write more connections", mostNumbered)
	}
	next := sub.next.Load()
	body := order.AppendUint64(order.AppendUint16(text([]byte{number}, sub.Topic), fromOffset), next)
	if next == 0 && sub.session.Run != "" { // the user's stream may have begun long before
		body = order.AppendUint16(text([]byte{number}, sub.Topic), fromNext)
	}
	_, err := w.ask(ctx, subscribe, order.AppendUint16(body, credits))
	if err == nil {
		go sub.take(w, number, chunks)
	}
	return err
}

// arrived passes a chunk on to its consumer, which has room for as many as it gave credits.
func (w *wire) arrived(r reader) error {
	number := int(r.uint(1))
	r.bytes(4) // format, type, entries
	c := chunk{messages: r.uint(4)}
	r.bytes(8 + 8) // timestamp, epoch
	c.first = r.uint(8)
	sum, size := uint32(r.uint(4)), int(r.uint(4))
	r.bytes(4 + 4) // trailer, reserved
	c.data = r.bytes(size)
	w.mu.Lock()
	defer w.mu.Unlock()
	if number >= len(w.chunks) || crc32.ChecksumIEEE(c.data) != sum {
		return errors.New("a chunk arrives damaged")
	}
	w.held.Add(int64(c.messages))
	w.chunks[number] <- c
	return nil
}

// take handles chunks until the wire ends.
func (sub *subscription) take(w *wire, number byte, chunks <-chan chunk) {
	for {
		select {
		case <-w.Done():
			return
		case c := <-chunks:
			at := sub.session.Now()
			w.write(order.AppendUint16(append(begin(credit), number), 1))
			offset, end := c.first, c.first+c.messages
			for ; len(c.data) > 0 && w.Context.Err() == nil; offset++ {
				if c.data[0]&(1<<7) != 0 { // an entry of several: they follow
					c.data.bytes(subEntryBytes - entryBytes)
				}
				sub.message(w, offset, payloadOf(c.data.bytes(int(c.data.uint(4)))), at)
			}
			w.held.Add(int64(offset) - int64(end)) // other programs compress entries
			sub.store(w, broker.PerBatch)
		}
	}
}

func (sub *subscription) message(w *wire, offset uint64, payload []byte, at int64) {
	sub.busy.Lock()
	defer sub.busy.Unlock()
	w.held.Add(-1)
	if offset < sub.next.Load() { // chunks come as a whole
		return
	}
	if sub.Group != "" {
		at = sub.session.Now()
	}
	sub.handle(broker.Delivery{ReceivedNs: at, Payload: payload})
	sub.next.Store(offset + 1)
	sub.store(w, broker.PerMessage)
}

// store tells the broker what was handled, if that is when this consumer acknowledges.
func (sub *subscription) store(w *wire, when string) {
	if next := sub.next.Load(); sub.acknowledge == when && next > 0 {
		w.write(order.AppendUint64(text(text(begin(storeOffset), sub.reference), sub.Topic), next-1))
	}
}
