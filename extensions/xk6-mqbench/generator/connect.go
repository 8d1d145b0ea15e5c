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

// visits are the connections of the pattern connect. Each message is one: it is acknowledged when it has logged in, and received when it has
// got its first message from itself. After that it is held until `hold` newer ones are.
type visits struct {
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
	held []broker.Visitor
	// opened = held + closed + gone.
	opened, closed, gone int64
}

// visiting is the Producer of one connection of the plan.
type visiting struct {
	*visits
	take broker.Handler
}

func (g *Generator) newVisits() *visits {
	v := &visits{g: g, hold: g.share.part(g.plan.Hold, g.share.index)}
	v.dialer, _ = g.session.(broker.Dialer)
	v.over, v.cancel = context.WithCancel(context.Background())
	return v
}

// most is how many connections are open or being opened at the same time.
func (v *visits) most() int64 {
	p := v.g.plan
	return min(p.Schedule.Messages, int64(v.hold)+p.InFlight*int64(len(v.g.share.own)))
}

// Send opens a connection. Nobody waits for it.
func (v *visiting) Send(m *broker.Message, done broker.Done) {
	v.running.Go(func() { v.visit(m, done) })
}

// end gives up the attempts that are under way, and returns counts for the totals, without the connections if some hang.
func (v *visits) end() map[string]any {
	v.cancel()
	counts := map[string]any{}
	ended := deadline.AtMost(v.g.plan.leaveTimeout(), v.running.Wait)
	if n := v.short.Load(); n > 0 {
		counts["clientDropped"] = n
	}
	if !ended {
		return counts
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	held := int64(0)
	for _, one := range v.held {
		if !one.Gone() {
			held++
		}
	}
	counts["connections"] = map[string]int64{"opened": v.opened, "held": held, "closed": v.closed, "gone": v.gone + int64(len(v.held)) - held}
	return counts
}

func (v *visits) close() error {
	v.cancel()
	v.mu.Lock()
	held := v.held
	v.held = nil
	v.mu.Unlock()
	return deadline.Each(context.Background(), held, func(_ context.Context, one broker.Visitor) error {
		one.Close()
		return nil
	})
}

// --- internal ---

// visit is the life of a connection until it is held. An attempt that takes longer than the timeout is given up.
func (v *visiting) visit(m *broker.Message, done broker.Done) {
	ctx, cancel := context.WithTimeout(v.over, time.Duration(v.g.plan.TimeoutNs))
	defer cancel()
	arrived := make(chan struct{})
	var once sync.Once
	visitor, err := v.dialer.Dial(ctx, m.Index)
	atNs := v.g.clock.Now()
	if err == nil {
		err = broker.Wrap("first message", visitor.Greet(ctx, m, func(d broker.Delivery) {
			v.take(d)
			once.Do(func() { close(arrived) })
		}))
		if err != nil {
			visitor.Close()
		}
	}
	if err != nil {
		done(m, 0, v.blame(ctx, err))
		return
	}
	done(m, atNs, nil)
	select {
	case <-arrived:
	case <-ctx.Done():
	}
	v.keep(visitor)
}

// keep holds a connection, and closes the oldest one if there are too many.
func (v *visits) keep(newest broker.Visitor) {
	v.mu.Lock()
	v.opened++
	v.held = append(v.held, newest)
	var oldest broker.Visitor
	if len(v.held) > v.hold {
		oldest, v.held[0] = v.held[0], nil // nothing refers to it any more
		v.held = v.held[1:]
		if oldest.Gone() {
			v.gone++
		} else {
			v.closed++
		}
	}
	v.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
}

// blame is the reason for a missing connection. If the end of the run interrupted it, whether it was made is unknown.
func (v *visits) blame(ctx context.Context, err error) error {
	switch {
	case v.over.Err() != nil:
		return fmt.Errorf("the run ended before the connection was open: %w", broker.ErrUnknown)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		v.short.Add(1)
		return errors.New("this machine has no free port for another connection to that address (net.ipv4.ip_local_port_range)")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		v.short.Add(1)
		return errors.New("this machine allows no more open files (ulimit -H -n)")
	case ctx.Err() != nil:
		return fmt.Errorf("no connection within %s", time.Duration(v.g.plan.TimeoutNs))
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
