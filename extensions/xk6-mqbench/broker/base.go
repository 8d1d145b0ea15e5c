package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// Base is the common part of most sessions: their options, how often a connection was replaced, and whether they are closed. Sessions embed
// the result of NewBase, and with it get the ability Reconnecter. Any goroutine may call its methods.
type Base struct {
	Options
	// At is the parsed URL of a SimpleDriver.
	At address.Address
	// Over ends with the session.
	Over       context.Context
	end        context.CancelFunc
	driver     string
	quiet      atomic.Bool
	reconnects atomic.Int64

	mu      sync.Mutex
	killed  bool
	sockets []net.Conn
}

var (
	_ Reconnecter = (*Base)(nil)
	_ Killer      = (*Base)(nil)
)

// Dial is a dialer's DialContext.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Dial is a dialer's method without a context.
func (d Dial) Dial(network, address string) (net.Conn, error) {
	return d(context.Background(), network, address)
}

var errKilled = errors.New("killed")

// Dialer makes a dialer with TLS, or without if security is nil. timeout 0 is no limit but the context's. Its sockets end with Kill.
func (b *Base) Dialer(timeout time.Duration, security *tls.Config) Dial {
	dialer := &net.Dialer{Timeout: timeout}
	if security == nil {
		return b.Mortal(dialer.DialContext)
	}
	return b.Mortal((&tls.Dialer{NetDialer: dialer, Config: security}).DialContext)
}

// Mortal makes a dialer whose sockets end with Kill.
func (b *Base) Mortal(dial Dial) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.killed {
			_ = conn.Close()
			return nil, errKilled
		}
		b.sockets = append(b.sockets, conn)
		return conn, nil
	}
}

func (b *Base) Kill() {
	b.Quiet()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.killed = true
	for _, conn := range b.sockets {
		if secure, ok := conn.(*tls.Conn); ok { // which would say goodbye
			conn = secure.NetConn()
		}
		_ = conn.Close()
	}
}

// NewBase makes the base of a session. The session's errors begin with the driver's name.
func NewBase(driver string, o Options) *Base {
	b := &Base{Options: o, driver: driver}
	b.Over, b.end = context.WithCancel(context.Background())
	return b
}

// Reconnected counts a connection that was replaced.
func (b *Base) Reconnected() { b.reconnects.Add(1) }

// Reconnects is how often Reconnected was called.
func (b *Base) Reconnects() int64 { return b.reconnects.Load() }

// Quiet silences Report: failures from now on are our own doing, because we are removing the topics that consumers read.
func (b *Base) Quiet() { b.quiet.Store(true) }

// IsQuiet reports whether Quiet or End has been called.
func (b *Base) IsQuiet() bool { return b.quiet.Load() }

// End marks the session as closed. It returns false if it was closed before.
func (b *Base) End() bool {
	defer b.end()
	b.quiet.Store(true)
	return b.Over.Err() == nil
}

// Report passes an error that belongs to no message to OnError; what describes the operation. It ignores nil, and everything after Quiet.
func (b *Base) Report(what string, err error) {
	if err != nil && b.OnError != nil && !b.quiet.Load() {
		b.OnError(fmt.Errorf("%s: %w", b.driver, Wrap(what, err)))
	}
}

// List contains the objects that a session has made, such as consumers. Its zero value is empty. Any goroutine may call its methods.
type List[T any] struct {
	mu   sync.Mutex
	made []T
}

// Add adds one.
func (l *List[T]) Add(one T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made = append(l.made, one)
}

// All returns the added elements, in that order. The caller may change the slice.
func (l *List[T]) All() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.made)
}

// Throttler is the ability to report how long the broker deliberately held its clients back, for protocols that announce it.
type Throttler interface {
	// ThrottledNs is how long the broker has held back at least one connection so far, also after Close. Any goroutine may call it.
	ThrottledNs() int64
}

// Throttle is a Throttler for sessions to embed. Connections that are held back at the same time count once, which makes the figure
// comparable with the run's duration. Any goroutine may call its methods.
type Throttle struct {
	now func() int64

	mu      sync.Mutex
	held    int
	sinceNs int64
	sumNs   int64
}

// NewThrottle makes the Throttle of a session that goes by this clock.
func NewThrottle(now func() int64) *Throttle { return &Throttle{now: now} }

// Hold begins to hold a connection back; the function that it returns ends that, and does nothing when it is called again.
func (t *Throttle) Hold() (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == 0 {
		t.sinceNs = t.now()
	}
	t.held++
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.held--
		if t.held == 0 {
			t.sumNs += t.now() - t.sinceNs
		}
	})
}

// ThrottledNs is the time so far in which a connection was held back.
func (t *Throttle) ThrottledNs() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held > 0 {
		return t.sumNs + t.now() - t.sinceNs
	}
	return t.sumNs
}

// Wire is one connection of a client library that does not connect again by itself.
type Wire interface {
	// Done is closed when the connection is over.
	Done() <-chan struct{}
	// Err is why. It is called after that.
	Err() error
}

// Lifetime makes a Wire of the struct that embeds it. It is over when End is called with the reason, or with its context.
type Lifetime struct {
	context.Context
	End context.CancelCauseFunc
}

// NewLifetime makes one within ctx.
func NewLifetime(ctx context.Context) Lifetime {
	over, end := context.WithCancelCause(ctx)
	return Lifetime{over, end}
}

// Err is why it is over.
func (l Lifetime) Err() error { return context.Cause(l.Context) }

// Link is a connection that is replaced whenever it is lost. The loss is reported, attempts to connect are not, and the new connection counts
// once. A link ends with End, with its session, or when a connection is lost after Quiet. Drivers check Now: sends fail while there is no connection.
type Link[W Wire] struct {
	// First is how long a lost connection waits for the first attempt to replace it, Wait how long for each other one.
	First, Wait time.Duration
	// Over ends with the link. Open sets it, and End.
	Over context.Context
	End  context.CancelFunc
	now  atomic.Pointer[W]
}

// Open makes the first connection. One goroutine at a time calls dial; it returns a connection with all that is to be on it, or nothing.
func (l *Link[W]) Open(ctx context.Context, b *Base, dial func(context.Context) (W, error)) error {
	l.Over, l.End = context.WithCancel(b.Over)
	made, err := dial(ctx)
	if err != nil {
		l.End()
		return err
	}
	l.now.Store(&made)
	go l.keep(b, made, dial)
	return nil
}

// Now is the connection; false if there is none at the moment. Any goroutine may call it.
func (l *Link[W]) Now() (wire W, is bool) {
	if at := l.now.Load(); at != nil {
		return *at, true
	}
	return wire, false
}

// Lifeline counts lost connections for client libraries that do not report them because they reconnect silently or use a connection for
// each request. The driver reports its observations. The methods are safe for concurrent use and cheap enough to call for each message.
type Lifeline struct {
	base *Base
	lost atomic.Bool
}

// Lifeline makes the lifeline of one connection.
func (b *Base) Lifeline() *Lifeline { return &Lifeline{base: b} }

// Failed notes that the connection does not work. The first of several failures in a row is reported.
func (l *Lifeline) Failed(what string, err error) {
	if !l.lost.Swap(true) {
		l.base.Report(what, address.Cause(err))
	}
}

// Works notes that a message or an answer came through. If the connection was lost it has been replaced.
func (l *Lifeline) Works() {
	if l.lost.Load() && l.lost.Swap(false) { // most calls write nothing
		l.base.Reconnected()
	}
}

// --- internal ---

func (l *Link[W]) keep(b *Base, wire W, dial func(context.Context) (W, error)) {
	for {
		select {
		case <-l.Over.Done():
			return
		case <-wire.Done():
		}
		l.now.Store(nil)
		if l.Over.Err() != nil || b.IsQuiet() {
			return
		}
		b.Report("connection lost", address.Cause(wire.Err()))
		err := deadline.Retry(l.Over, l.First, l.Wait, func() error {
			made, err := dial(l.Over)
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
