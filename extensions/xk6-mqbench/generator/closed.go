package generator

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// gate is where the goroutine of a sender waits. One goroutine waits; any goroutine may open it.
type gate struct {
	waiting atomic.Bool
	wake    chan struct{}
}

// await returns when ready returns true. It asks again after each call of opened.
func (t *gate) await(ready func() bool) {
	for !ready() {
		t.waiting.Store(true)
		// Subtle: the gate may have been opened between the two lines above, when nothing was waiting.
		if ready() {
			t.waiting.Store(false)
			return
		}
		<-t.wake
	}
}

// opened wakes the waiting goroutine, if there is one.
func (t *gate) opened() {
	if t.waiting.Load() && t.waiting.CompareAndSwap(true, false) {
		select {
		case t.wake <- struct{}{}:
		default: // it has been woken already
		}
	}
}

// --- internal ---

// runClosed starts the senders at T0, with the warm-up first, and the rest when all of that has settled or timed out. It goes on until every
// message has settled, or nothing has been sent or completed and nothing has timed out for the length of the drain, or the time is over.
// Messages not sent by then are not offered; messages in flight have the drain to come back. It returns how the run ended.
func (g *Generator) runClosed(ctx context.Context) string {
	time.Sleep(time.Duration(g.t0 - g.clock.Now()))
	var sending sync.WaitGroup
	g.sendUntil(g.plan.Schedule.WarmupMessages)
	for _, s := range g.senders {
		sending.Go(s.send)
	}
	go func() {
		sending.Wait()
		close(g.paced)
	}()
	endNs := g.t0 + g.plan.Schedule.DurationNs
	movedNs, moves := g.clock.Now(), int64(-1)
	open, warmedNs := false, int64(0)
	for {
		pending := g.expire()
		now := g.clock.Now()
		t := g.recorder.Totals()
		if n := t.Sent.All + t.Acked.All + t.Received.All + t.Settled + g.books.Timeouts(); n != moves {
			moves, movedNs = n, now
		}
		if !open && t.Sent.All >= g.plan.Schedule.WarmupMessages {
			if warmedNs == 0 {
				warmedNs = now
			}
			// Messages and acknowledgements that have timed out by then are not waited for.
			if open = g.nothingInFlight() || now-warmedNs >= g.plan.TimeoutNs && g.slotsTaken() == 0; open {
				g.recorder.Open(now - g.t0)
				g.sendUntil(g.plan.Schedule.Messages)
			}
		}
		if now >= endNs {
			g.endSends()
		}
		// A timeout makes room for messages that wait to be sent.
		still := g.waited(movedNs) >= g.plan.DrainNs && (g.sent() || !pending)
		if still || g.settled() || g.waited(endNs) >= g.plan.DrainNs {
			return "complete"
		}
		// Closed loads have no other watch for stops: they have no lag that a stop would explain.
		dueNs := g.clock.Now() + int64(settlePoll)
		select {
		case <-g.told:
			return "complete"
		case <-ctx.Done():
			return g.interrupt()
		case <-time.After(settlePoll):
		}
		g.stops.woke(dueNs, g.clock.Now())
	}
}

// slotsTaken is how many slots are taken: by messages that have neither settled nor timed out, and by messages about to leave.
func (g *Generator) slotsTaken() (n int64) {
	for _, s := range g.senders {
		n += s.inFlight.Load()
	}
	return n
}

// sendUntil lets the senders of a closed load send the messages below i.
func (g *Generator) sendUntil(i int64) {
	for _, s := range g.senders {
		s.due.Store(g.books.Sequences(s.producer, i))
		s.gate.opened()
	}
}

func (g *Generator) endSends() {
	g.stop.Store(true)
	g.sendsOnce.Do(func() { close(g.sendsOver) })
	for _, s := range g.senders {
		s.gate.opened()
	}
}
