package generator

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// gate is where the sender of a closed load waits for a message to leave flight. One goroutine waits; any goroutine may open it.
type gate struct {
	waiting atomic.Bool
	wake    chan struct{}
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

// sendClosed sends all messages of the producer as fast as inFlight allows: first its share of the warm-up, and when all of that has
// settled or timed out, the rest.
func (s *sender) sendClosed() {
	g := s.g
	warmup := g.books.Sequences(s.producer, g.plan.Schedule.WarmupMessages)
	all := g.books.Sequences(s.producer, g.plan.Schedule.Messages)
	for seq := range all {
		if seq == warmup {
			select {
			case <-g.opened:
			case <-g.sendsOver:
				return
			}
		}
		if !s.enter() {
			return
		}
		m := g.message(s.producer, seq)
		if s.connection.take() && s.over() {
			s.connection.unlock()
			return
		}
		m.OffsetNs = g.clock.Now() - g.t0
		s.transmit(m, m.OffsetNs, 0)
		s.connection.unlock()
	}
}

// --- internal ---

// enter waits at the gate. It returns false when the run is over.
func (s *sender) enter() bool {
	for !s.acquire() {
		s.gate.waiting.Store(true)
		// Subtle: a message may have left flight between the two lines above, when nothing was waiting.
		if s.acquire() {
			s.gate.waiting.Store(false)
			break
		}
		select {
		case <-s.gate.wake:
		case <-s.g.sendsOver:
			return false
		}
	}
	// Subtle: the slot is taken before this look at stop. Otherwise a message could leave after stop is set and no slot is taken.
	if s.g.stop.Load() {
		s.inFlight.Add(-1)
		return false
	}
	return true
}

// runClosed starts the senders at T0 and goes on until every message has settled, or nothing has been sent or completed and nothing has
// timed out for the length of the drain, or the time is over. Messages not sent by then are not offered; messages in flight have the drain
// to come back. It returns how the run ended.
func (g *Generator) runClosed(ctx context.Context) string {
	time.Sleep(time.Duration(g.t0 - g.clock.Now()))
	var sending sync.WaitGroup
	for _, s := range g.senders {
		sending.Go(s.sendClosed)
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
				close(g.opened)
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

func (g *Generator) endSends() {
	g.stop.Store(true)
	g.sendsOnce.Do(func() { close(g.sendsOver) })
}
