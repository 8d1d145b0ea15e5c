package generator

import (
	"sync"
	"sync/atomic"
)

// connection is what the producers on one connection share.
type connection struct {
	// inFlight counts the messages of all of them.
	inFlight atomic.Int64
	// guarded: others than the pacer may send here too, at the same time, which drivers do not have to bear.
	guarded bool
	mu      sync.Mutex
	// freedNs is when the last send call returned, ns since T0. Guarded by mu.
	freedNs int64
}

// try takes the connection if nobody sends on it. unlock must follow.
func (c *connection) try() bool { return !c.guarded || c.mu.TryLock() }

// take waits until nobody sends, and reports whether it had to. unlock must follow.
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

// quiet reports whether nobody sends on it.
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
