package broker

import (
	"context"
	"sync"
)

// Unanswered are the sends of a producer whose library returns something to wait for (T) with each of them. One goroutine waits for one
// answer after the other, in the order of sending, so there is one Unanswered for each order in which answers come (a connection, or a
// topic of it). Sends cost one lock and no memory. Each send is completed once: with the time of its answer, or with the error of wait.
type Unanswered[T any] struct {
	now  func() int64
	over context.Context
	wait func(T) error

	mu    sync.Mutex
	more  sync.Cond
	queue []unanswered[T]
	// ended means that nothing waits any more.
	ended bool
}

type unanswered[T any] struct {
	message *Message
	done    Done
	answer  T
}

// NewUnanswered makes the queue of a session's producer. wait returns nil for an acknowledgement, else an error, also when Over ends.
func NewUnanswered[T any](b *Base, wait func(T) error) *Unanswered[T] {
	u := &Unanswered[T]{now: b.Now, over: b.Over, wait: wait}
	u.more.L = &u.mu
	go u.run()
	return u
}

// Add waits for the answer to a send.
func (u *Unanswered[T]) Add(m *Message, done Done, answer T) {
	u.mu.Lock()
	ended := u.ended
	if !ended {
		u.queue = append(u.queue, unanswered[T]{m, done, answer})
	}
	u.mu.Unlock()
	u.more.Signal()
	if ended {
		done.Settle(m, u.now(), u.wait(answer))
	}
}

// --- internal ---

// run ends when the session has and the last send is completed.
func (u *Unanswered[T]) run() {
	defer context.AfterFunc(u.over, func() {
		u.mu.Lock() // or it would come between a look and the wait
		defer u.mu.Unlock()
		u.more.Signal()
	})()
	var batch []unanswered[T]
	for ended := false; !ended; {
		u.mu.Lock()
		for len(u.queue) == 0 && u.over.Err() == nil {
			u.more.Wait()
		}
		batch, u.queue = u.queue, batch[:0]
		ended = len(batch) == 0
		u.ended = ended
		u.mu.Unlock()
		for i, one := range batch {
			err := u.wait(one.answer)
			one.done.Settle(one.message, u.now(), err)
			batch[i] = unanswered[T]{}
		}
	}
}
