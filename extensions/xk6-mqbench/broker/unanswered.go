package broker

import (
	"context"
	"sync"
)

// Unanswered are the sends of a producer whose library hands out something to wait for with each of them: T. One goroutine waits for one answer
// after the other, in the order of sending, so there is one Unanswered for each order in which answers come (a connection, or a topic of it).
// Sends cost one lock and no memory. Each send is completed once: with the time of its answer, or with what wait returns.
type Unanswered[T any] struct {
	now func() int64
	// over ends with the session.
	over context.Context
	wait func(T) error
	wake chan struct{}

	mu    sync.Mutex
	queue []unanswered[T]
	// ended: nobody waits any more.
	ended bool
}

type unanswered[T any] struct {
	message *Message
	done    Done
	answer  T
}

// NewUnanswered makes the queue of a session's producer. wait returns when the answer is there: nil if it is an acknowledgement. It returns, with an
// error, when Over ends.
func NewUnanswered[T any](b *Base, wait func(T) error) *Unanswered[T] {
	u := &Unanswered[T]{now: b.Now, over: b.Over, wait: wait, wake: make(chan struct{}, 1)}
	go u.run()
	return u
}

// Add waits for the answer to a send.
func (u *Unanswered[T]) Add(m *Message, done Done, answer T) {
	u.mu.Lock()
	ended, first := u.ended, len(u.queue) == 0
	if !ended {
		u.queue = append(u.queue, unanswered[T]{m, done, answer})
	}
	u.mu.Unlock()
	if ended {
		done.Settle(m, u.now(), u.wait(answer))
		return
	}
	if first { // it may be asleep
		select {
		case u.wake <- struct{}{}:
		default:
		}
	}
}

// --- internal ---

// run ends when the session has and the last send is completed.
func (u *Unanswered[T]) run() {
	var batch []unanswered[T]
	for {
		u.mu.Lock()
		batch, u.queue = u.queue, batch[:0]
		u.ended = len(batch) == 0 && u.over.Err() != nil
		ended := u.ended
		u.mu.Unlock()
		if ended {
			return
		}
		for i, one := range batch {
			err := u.wait(one.answer)
			one.done.Settle(one.message, u.now(), err)
			batch[i] = unanswered[T]{}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-u.wake:
		case <-u.over.Done():
		}
	}
}
