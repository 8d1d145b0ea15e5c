package broker

import (
	"sync"
	"time"
)

// Throttler is the ability to report how long the broker deliberately held its clients back. It is for protocols that tell clients so; reports
// of other drivers do not mention throttling.
type Throttler interface {
	// ThrottledNs is how long the broker has held back at least one connection so far, also after Close. Any goroutine may call it.
	ThrottledNs() int64
}

// ThrottledNs is how long the broker held its clients back; nil if its protocol does not tell.
func ThrottledNs(s Session) *int64 { return number(s, Throttler.ThrottledNs) }

// Throttle is a Throttler for sessions to embed. Connections that are held back at the same time count once, so that the figure can be
// compared with the run's duration. Any goroutine may call its methods.
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

// HoldFor holds a connection back for that long.
func (t *Throttle) HoldFor(d time.Duration) { time.AfterFunc(d, t.Hold()) }

// ThrottledNs is the time so far in which a connection was held back.
func (t *Throttle) ThrottledNs() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held > 0 {
		return t.sumNs + t.now() - t.sinceNs
	}
	return t.sumNs
}
