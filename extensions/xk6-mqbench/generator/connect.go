package generator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// opener opens the connections of the pattern connect. Each message is one: it is acknowledged when it has logged in, and received when it
// has got its first message from itself. After that it is held until `hold` newer ones are.
type opener struct {
	g       *Generator
	dialer  broker.Dialer
	hold    int
	over    context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	// short counts the connections that this machine had no file or port for.
	short atomic.Int64

	mu sync.Mutex
	// held are idle, the oldest first.
	held []broker.Connection
	// opened = held + closed + gone.
	opened, closed, gone int64
}

// opening is the Producer of one connection of the plan.
type opening struct {
	*opener
	take broker.Handler
}

func (g *Generator) newOpener() *opener {
	o := &opener{g: g, hold: g.share.part(g.plan.Hold, g.share.index)}
	o.dialer, _ = g.session.(broker.Dialer)
	o.over, o.cancel = context.WithCancel(context.Background())
	return o
}

// most is how many connections are open or being opened at the same time.
func (o *opener) most() int64 {
	p := o.g.plan
	return min(p.Schedule.Messages, int64(o.hold)+p.InFlight*int64(len(o.g.share.own)))
}

// Send opens a connection. Nobody waits for it.
func (o *opening) Send(m *broker.Message, done broker.Done) {
	o.running.Go(func() { o.open(m, done) })
}

// end gives up the attempts that are under way, and returns counts for the totals, without the connections if some hang.
func (o *opener) end() map[string]any {
	o.cancel()
	counts := map[string]any{}
	ended := deadline.AtMost(o.g.plan.leaveTimeout(), o.running.Wait)
	if n := o.short.Load(); n > 0 {
		counts["clientDropped"] = n
	}
	if !ended {
		return counts
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	held := int64(0)
	for _, one := range o.held {
		if !one.Gone() {
			held++
		}
	}
	counts["connections"] = map[string]int64{"opened": o.opened, "held": held, "closed": o.closed, "gone": o.gone + int64(len(o.held)) - held}
	return counts
}

func (o *opener) close() error {
	o.cancel()
	o.mu.Lock()
	held := o.held
	o.held = nil
	o.mu.Unlock()
	return deadline.Each(context.Background(), held, func(_ context.Context, one broker.Connection) error {
		one.Close()
		return nil
	})
}

// --- internal ---

// open is the life of a connection until it is held. An attempt that takes longer than the timeout is given up.
func (o *opening) open(m *broker.Message, done broker.Done) {
	ctx, cancel := context.WithTimeout(o.over, time.Duration(o.g.plan.TimeoutNs))
	defer cancel()
	arrived := make(chan struct{})
	var once sync.Once
	made, err := o.dialer.Dial(ctx, m.Index)
	atNs := o.g.clock.Now()
	if err == nil {
		err = broker.Wrap("first message", made.Greet(ctx, m, func(d broker.Delivery) {
			o.take(d)
			once.Do(func() { close(arrived) })
		}))
		if err != nil {
			made.Close()
		}
	}
	if err != nil {
		done(m, 0, o.blame(ctx, err))
		return
	}
	done(m, atNs, nil)
	select {
	case <-arrived:
	case <-ctx.Done():
	}
	o.keep(made)
}

// keep holds a connection, and closes the oldest one if there are too many.
func (o *opener) keep(newest broker.Connection) {
	o.mu.Lock()
	o.opened++
	o.held = append(o.held, newest)
	var oldest broker.Connection
	if len(o.held) > o.hold {
		oldest, o.held[0] = o.held[0], nil // nothing refers to it any more
		o.held = o.held[1:]
		if oldest.Gone() {
			o.gone++
		} else {
			o.closed++
		}
	}
	o.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
}

// blame is the reason for a missing connection. If the end of the run interrupted it, whether it was made is unknown.
func (o *opener) blame(ctx context.Context, err error) error {
	switch {
	case o.over.Err() != nil:
		return fmt.Errorf("the run ended before the connection was open: %w", broker.ErrUnknown)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		o.short.Add(1)
		return errors.New("this machine has no free port for another connection to that address (net.ipv4.ip_local_port_range)")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		o.short.Add(1)
		return errors.New("this machine allows no more open files (ulimit -H -n)")
	case ctx.Err() != nil:
		return fmt.Errorf("no connection within %s", time.Duration(o.g.plan.TimeoutNs))
	}
	return err
}

// portRange is how many ports this machine gives to connections; unlimited where that cannot be read.
var portRange = func() int64 {
	text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var from, to int64
	if n, _ := fmt.Sscan(string(text), &from, &to); n < 2 {
		return math.MaxInt32
	}
	return to - from + 1
}
