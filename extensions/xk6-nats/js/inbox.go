package js

import (
	"context"
	"sync"
	"sync/atomic"

	"go.k6.io/k6/v2/js/modules"
)

const (
	// inboxLimit is how many messages wait for a VU that does not await; more are dropped, and counted.
	inboxLimit = 65_536
	// turnLimit is how many messages are handled before the event loop does other things that are due, promises that are settled among them.
	turnLimit = 100
)

// inbox has the messages for the handlers of one VU. A VU's JavaScript runs only on its event loop, and k6's loop turns while a promise is
// awaited: then handlers run. While nothing is awaited messages wait here.
type inbox struct {
	vu modules.VU
	// listening is the context of the VU's scenario, from its first call on. Earlier messages, and messages to a VU that no longer has a
	// scenario, are not for it.
	listening atomic.Pointer[context.Context]
	// drops are not counted yet.
	drops atomic.Int64
	// mu guards the fields below.
	mu sync.Mutex
	// awaits counts promises that are awaited; awaited: one was in this iteration.
	awaits  int
	awaited bool
	waiting []func() error
	// wake takes a function to the event loop, nil while nothing is awaited.
	wake func(func() error)
}

// enter is called by each method within an iteration.
func (b *inbox) enter() {
	if ctx := b.vu.Context(); b.vu.State() != nil {
		b.listening.Store(&ctx)
	}
}

// put takes a function for the VU's event loop, from any goroutine, unless it is not wanted. If there are too many, it is dropped: full.
func (b *inbox) put(handle func() error) (full bool) {
	if ctx := b.listening.Load(); ctx == nil || (*ctx).Err() != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= inboxLimit {
		b.drops.Add(1)
		return true
	}
	b.waiting = append(b.waiting, handle)
	b.turn()
	return false
}

// Begin lets handlers run from now on.
func (b *inbox) Begin() {
	b.enter()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaits++
	b.awaited = true
	b.listen()
}

// End undoes Begin.
func (b *inbox) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaits--
	if b.awaits == 0 && b.wake != nil {
		b.wake(func() error { return nil })
		b.wake = nil
	}
}

// missed reports whether messages wait for a VU that has not awaited anything since it was asked last; between iterations.
func (b *inbox) missed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	missed := !b.awaited && len(b.waiting) > 0
	b.awaited = false
	return missed
}

// --- internal ---

// listen waits for messages while something is awaited. It runs on the VU's goroutine.
func (b *inbox) listen() {
	if b.awaits > 0 && b.wake == nil {
		b.wake = b.vu.RegisterCallback()
		b.turn()
	}
}

// turn wakes the event loop if it is asked to, and there is something to handle.
func (b *inbox) turn() {
	if b.wake == nil || len(b.waiting) == 0 {
		return
	}
	b.wake(func() error {
		err := b.handle()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.listen()
		return err
	})
	b.wake = nil
}

// handle runs handlers, until nothing waits, one throws, the iteration is interrupted, or others have waited for long.
func (b *inbox) handle() error {
	for n := 0; n < turnLimit && b.vu.Context().Err() == nil; n++ {
		b.mu.Lock()
		if len(b.waiting) == 0 {
			b.mu.Unlock()
			return nil
		}
		next := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.mu.Unlock()
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}
