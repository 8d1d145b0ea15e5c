package generator

import (
	"sync"
	"sync/atomic"
)

// connection is what the producers on one connection share.
type connection struct {
	// inFlight counts the messages of all of them.
	inFlight atomic.Int64
	// guarded: other goroutines than the pacer may send here too, at the same time, and drivers do not have to allow that.
	guarded bool
	mu      sync.Mutex
	// calendar is where its send calls would be without our own lateness. Guarded by mu; nobody else may send where it is not.
	calendar calendar
}

// try takes the connection if nobody is sending on it. unlock must follow.
func (c *connection) try() bool { return !c.guarded || c.mu.TryLock() }

// take waits until nobody is sending, and reports whether it had to wait. unlock must follow.
func (c *connection) take() (waited bool) {
	if !c.guarded || c.mu.TryLock() {
		return false
	}
	c.mu.Lock()
	return true
}

func (c *connection) unlock() {
	if c.guarded {
		c.mu.Unlock()
	}
}

// quiet reports whether nobody is sending.
func (c *connection) quiet() bool {
	if !c.guarded {
		return true
	}
	if !c.mu.TryLock() {
		return false
	}
	c.mu.Unlock()
	return true
}
