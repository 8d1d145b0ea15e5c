package generator

import (
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// connection is what the producers on one connection share.
type connection struct {
	// inFlight counts the messages of all of them.
	inFlight atomic.Int64
	// shared: the pacer and goroutines of senders may call Send at the same time, which drivers do not have to bear. Who
	// waits here waits for the system: it is part of the send call.
	shared bool
	mu     sync.Mutex
}

func (c *connection) send(out broker.Producer, m *broker.Message, done broker.Done) {
	if !c.shared {
		out.Send(m, done)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out.Send(m, done)
}
