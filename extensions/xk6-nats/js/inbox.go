package js

import (
	"context"
	"sync"
	"sync/atomic"

	"go.k6.io/k6/v2/js/modules"
)

// inboxLimit is how many messages wait for a VU that does not await; more are dropped, and counted.
const inboxLimit = 65_536

// turnLimit is how many messages are handled before the event loop does other things that are due, promises that are settled among them.
const turnLimit = 100

// inbox has the messages for the handlers of one VU. JavaScript of a VU runs on its event loop alone, and k6's loop turns while a promise is
// awaited: then handlers run. While nothing is awaited messages wait here.
type inbox struct {
	vu modules.VU
	// listening is the context of the VU's scenario, from its first call on: what came before, or to a VU that has no scenario any more, is not
	// for it.
	listening atomic.Pointer[context.Context]
	// drops are not counted yet.
	drops atomic.Int64
	// mu guards what follows.
	mu sync.Mutex
	// awaits counts promises that are awaited; asleep: none was in this iteration.
	awaits  int
	asleep  bool
	waiting []func() error
	// wake takes a function to the event loop, nil while nothing is awaited.
	wake func(func() error)
}

func newInbox(vu modules.VU) *inbox { return &inbox{vu: vu, asleep: true} }

// enter is called by each method within an iteration.
func (b *inbox) enter() {
	if ctx := b.vu.Context(); b.vu.State() != nil {
		b.listening.Store(&ctx)
	}
}

// put takes what is to run on the VU's event loop, from any goroutine; false: it is not wanted, or there are too many.
func (b *inbox) put(handle func() error) (taken, full bool) {
	ctx := b.listening.Load()
	if ctx == nil || (*ctx).Err() != nil {
		return false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= inboxLimit {
		return false, true
	}
	b.waiting = append(b.waiting, handle)
	b.turn()
	return true, false
}

// Begin lets handlers run from now on.
func (b *inbox) Begin() {
	b.enter()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaits++
	b.asleep = false
	if b.wake == nil {
		b.wake = b.vu.RegisterCallback()
	}
	b.turn()
}

// End undoes Begin. Messages that are there are handled before the promise is settled; the error is a handler's exception.
func (b *inbox) End() error {
	b.mu.Lock()
	there := len(b.waiting)
	b.mu.Unlock()
	err := b.handle(there)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaits--
	if b.awaits == 0 && b.wake != nil {
		b.wake(func() error { return nil })
		b.wake = nil
	}
	return err
}

// missed reports whether messages wait for a VU that has not awaited anything since it was asked last; between iterations.
func (b *inbox) missed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	missed := b.asleep && len(b.waiting) > 0
	b.asleep = true
	return missed
}

// --- internal ---

// turn wakes the event loop if it is asked to, and there is something to handle.
func (b *inbox) turn() {
	if b.wake != nil && len(b.waiting) > 0 {
		wake := b.wake
		b.wake = nil
		wake(b.run)
	}
}

// run handles what waits, and waits for more if something is awaited still. It runs on the VU's goroutine.
func (b *inbox) run() error {
	err := b.handle(turnLimit)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.awaits > 0 && b.wake == nil {
		b.wake = b.vu.RegisterCallback()
		b.turn()
	}
	return err
}

// handle runs handlers of at most so many messages, until nothing waits, one throws, or the iteration is interrupted.
func (b *inbox) handle(most int) error {
	for ctx := b.vu.Context(); most > 0 && ctx.Err() == nil; most-- {
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
