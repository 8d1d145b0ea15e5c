package broker

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Base is what sessions of most systems keep: their options and part in the run, how often a connection was made anew, and whether they
// are over. Sessions embed what NewBase makes, and with it have the abilities Existing, Shared and Reconnecter. Any goroutine may call
// its methods, but those of Part.
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

// NewBase is for a session of the driver of that name, with which its errors begin.
func NewBase(driver string, o Options) *Base {
	b := &Base{Options: o, driver: driver}
	b.Over, b.end = context.WithCancel(context.Background())
	return b
}

// Reconnected notes that a connection was made anew.
func (b *Base) Reconnected() { b.reconnects.Add(1) }

// Reconnects is how often that was so.
func (b *Base) Reconnects() int64 { return b.reconnects.Load() }

// Quiet says that what goes wrong from now on is our own doing: what consumers read is being removed.
func (b *Base) Quiet() { b.quiet.Store(true) }

// IsQuiet: Quiet has been called, or End.
func (b *Base) IsQuiet() bool { return b.quiet.Load() }

// End says that the session is closed; false: it was already.
func (b *Base) End() bool {
	defer b.end()
	b.quiet.Store(true)
	return b.Over.Err() == nil
}

// Report tells OnError of an error that belongs to no message: what met it, and err. nil is no error; after Quiet nobody is told.
func (b *Base) Report(what string, err error) {
	if err != nil && b.OnError != nil && !b.quiet.Load() {
		b.OnError(fmt.Errorf("%s: %w", b.driver, Wrap(what, err)))
	}
}
