package broker

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// Wire is one connection of a client library that does not connect again by itself.
type Wire interface {
	// Done is closed when the connection is over.
	Done() <-chan struct{}
	// Err is why. It is called after that.
	Err() error
}

// Link is a connection that is replaced whenever it is lost. The loss is reported, attempts to connect are not, and the new connection counts
// once. A link ends with its session, or when a connection is lost after Quiet. Sends meanwhile fail: drivers look at Now.
type Link[W Wire] struct {
	// First is how long a lost connection waits for the first attempt to replace it, Wait how long for each other one.
	First, Wait time.Duration
	now         atomic.Pointer[W]
}

// Open makes the first connection. It is called once. dial is called by one goroutine at a time; it returns a connection with all that is
// to be on it, such as subscriptions, or nothing.
func (l *Link[W]) Open(ctx context.Context, b *Base, dial func(context.Context) (W, error)) error {
	made, err := dial(ctx)
	if err != nil {
		return err
	}
	l.now.Store(&made)
	go l.keep(b, made, dial)
	return nil
}

// Now is the connection; false: there is none at the moment. Any goroutine may call it.
func (l *Link[W]) Now() (wire W, is bool) {
	if at := l.now.Load(); at != nil {
		return *at, true
	}
	return wire, false
}

// Lifeline counts lost connections where nobody names them: the client library connects again by itself and says nothing, or has a
// connection for each request. The driver tells it whatever it sees. Any goroutine may call its methods, for each message too.
type Lifeline struct {
	base *Base
	lost atomic.Bool
}

// Lifeline makes that of one connection.
func (b *Base) Lifeline() *Lifeline { return &Lifeline{base: b} }

// Failed: the connection does not work. The first of several failures in a row is reported.
func (l *Lifeline) Failed(what string, err error) {
	if !l.lost.Swap(true) {
		l.base.Report(what, address.Cause(err))
	}
}

// Works: a message or an answer came through. If the connection was lost it has been replaced.
func (l *Lifeline) Works() {
	if l.lost.Load() && l.lost.Swap(false) { // most calls write nothing
		l.base.Reconnected()
	}
}

// --- internal ---

func (l *Link[W]) keep(b *Base, wire W, dial func(context.Context) (W, error)) {
	for {
		select {
		case <-b.Over.Done():
			return
		case <-wire.Done():
		}
		l.now.Store(nil)
		if b.IsQuiet() {
			return
		}
		b.Report("connection lost", address.Cause(wire.Err()))
		err := deadline.Retry(b.Over, l.First, l.Wait, func() error {
			made, err := dial(b.Over)
			if err == nil {
				wire = made
				l.now.Store(&made)
			}
			return err
		})
		if err != nil {
			return
		}
		b.Reconnected()
	}
}
