package broker

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Base has what sessions of most systems need: their options, their part in the run, how often a connection was replaced, and whether
// they are closed. Sessions embed what NewBase makes, and with it get the abilities Existing, Shared and Reconnecter. Any
// goroutine may call its methods, except those of Part.
type Base struct {
	Options
	Part
	// Over ends with the session.
	Over       context.Context
	end        context.CancelFunc
	driver     string
	quiet      atomic.Bool
	reconnects atomic.Int64
}

var _ Reconnecter = (*Base)(nil)

// NewBase makes the base of a session. The session's errors begin with the driver's name.
func NewBase(driver string, o Options) *Base {
	b := &Base{Options: o, driver: driver}
	b.Over, b.end = context.WithCancel(context.Background())
	return b
}

// Reconnected counts a connection that was replaced.
func (b *Base) Reconnected() { b.reconnects.Add(1) }

// Reconnects is the number of those connections.
func (b *Base) Reconnects() int64 { return b.reconnects.Load() }

// Quiet silences Report: what fails from now on is our own doing, because we are removing what consumers read.
func (b *Base) Quiet() { b.quiet.Store(true) }

// IsQuiet reports whether Quiet or End has been called.
func (b *Base) IsQuiet() bool { return b.quiet.Load() }

// End marks the session as closed. It returns false if it was closed before.
func (b *Base) End() bool {
	defer b.end()
	b.quiet.Store(true)
	return b.Over.Err() == nil
}

// Report passes an error that belongs to no message to OnError; what says what failed. It ignores nil, and everything after Quiet.
func (b *Base) Report(what string, err error) {
	if err != nil && b.OnError != nil && !b.quiet.Load() {
		b.OnError(fmt.Errorf("%s: %w", b.driver, Wrap(what, err)))
	}
}
