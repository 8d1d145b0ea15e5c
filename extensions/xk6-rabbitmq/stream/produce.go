package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// frameBytes is a frame to publish without its entries, entryBytes an entry without its messages, subEntryBytes one of several.
	frameBytes    = 4 + 4 + 1 + 4
	entryBytes    = 8
	subEntryBytes = entryBytes + 1 + 2 + 4 + 4
	// batchMost is how many waiting messages are written at once.
	batchMost = 1000
)

var (
	errPublish = errors.New("rabbitmq: publish: not connected")
	errUnknown = fmt.Errorf("rabbitmq: connection lost: %w", broker.ErrUnknown)
)

type sent struct {
	m    *broker.Message
	done broker.Done
}

type producer struct{ *link }

// Send queues the message. It blocks while the queue is full because the broker reads nothing.
func (p producer) Send(m *broker.Message, done broker.Done) {
	if w, is := p.Now(); is {
		w.queue <- sent{m, done}
	} else {
		done(m, 0, errPublish)
	}
}

// declare numbers publishers like their topics.
func (w *wire) declare(ctx context.Context, names []string) error {
	for i, name := range names {
		_, err := w.ask(ctx, declarePublisher, text([]byte{byte(i), 0, 0}, name))
		switch {
		case errors.Is(err, missing) && w.session.Run != "":
			return broker.MissingTopic(name, "there is no stream of this name")
		case err != nil:
			return fmt.Errorf("publish to %q: %w", name, err)
		}
	}
	return nil
}

// publish writes what waits, in a frame for each topic. It does not end with the wire, which a sender may still have.
func (w *wire) publish() {
	for one := range w.queue {
		batch := []sent{one}
		for len(batch) < batchMost && len(w.queue) > 0 {
			batch = append(batch, <-w.queue)
		}
		slices.SortStableFunc(batch, func(a, b sent) int { return a.m.Topic - b.m.Topic })
		for len(batch) > 0 {
			batch = w.publishSome(batch)
		}
	}
}

// publishSome writes a frame of the first messages, and returns the rest.
func (w *wire) publishSome(batch []sent) []sent {
	topic, several, head := batch[0].m.Topic, w.session.subEntrySize > 1, entryBytes
	if several {
		head = subEntryBytes
	}
	frame := append(append(w.frame[:0], begin(publish)...), byte(topic), 0, 0, 0, 0)
	w.mu.Lock()
	if w.unconfirmed == nil {
		w.mu.Unlock()
		batch[0].done(batch[0].m, 0, errPublish)
		return batch[1:]
	}
	for entries := uint32(1); ; entries++ {
		n, size := 0, head
		for n < min(len(batch), w.session.subEntrySize) && batch[n].m.Topic == topic {
			more := messageBytes + len(batch[n].m.Payload)
			if (n > 0 || entries > 1) && len(frame)+size+more > w.frameMax {
				break
			}
			n, size = n+1, size+more
		}
		if n == 0 {
			break
		}
		w.last++
		w.unconfirmed[w.last] = batch[:n]
		frame = order.AppendUint64(frame, w.last)
		if several {
			frame = order.AppendUint16(append(frame, 1<<7), uint16(n))
			frame = order.AppendUint32(order.AppendUint32(frame, uint32(size-head)), uint32(size-head))
		}
		for _, one := range batch[:n] {
			frame = appendMessage(frame, one.m.Payload)
		}
		batch = batch[n:]
		order.PutUint32(frame[frameBytes-4:], entries)
	}
	w.mu.Unlock()
	w.write(frame)
	w.frame = frame
	return batch
}

// settle completes what the broker confirms or refuses.
func (w *wire) settle(refused bool, r reader) {
	at := w.session.Now()
	r.uint(1) // the publisher; the numbers are the wire's
	for n := r.uint(4); n > 0 && len(r) > 0; n-- {
		id := r.uint(8)
		var err error
		if refused {
			err = fmt.Errorf("rabbitmq: publish: %w", code(r.uint(2)))
		}
		w.mu.Lock()
		entry := w.unconfirmed[id]
		delete(w.unconfirmed, id)
		w.mu.Unlock()
		for _, one := range entry {
			one.done.Settle(one.m, at, err)
		}
	}
}

// giveUp completes the messages of a wire that is over.
func (w *wire) giveUp() {
	w.mu.Lock()
	entries := w.unconfirmed
	w.unconfirmed = nil
	w.mu.Unlock()
	for _, entry := range entries {
		for _, one := range entry {
			err := errUnknown
			if frameBytes+entryBytes+messageBytes+len(one.m.Payload) > w.frameMax { // it closes the connection
				err = fmt.Errorf("rabbitmq: publish: %w", tooLarge)
			}
			one.done(one.m, 0, err)
		}
	}
}
