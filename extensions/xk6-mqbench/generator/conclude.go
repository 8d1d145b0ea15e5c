package generator

import (
	"context"
	"time"
)

// interruptDrain is how long an interrupted run waits for what is in flight.
const interruptDrain = 500 * time.Millisecond

const settlePoll = 2 * time.Millisecond

// outcome is what the books say at the end.
type outcome struct {
	state          string
	endNs          int64
	clientDropped  int64
	warmup, window counters
}

// conclude waits until every message is settled, the drain is over or ctx ends, and closes the books. All callers
// return when that is done.
func (g *Generator) conclude(ctx context.Context) {
	g.concludeOnce.Do(func() {
		defer close(g.concluded)
		g.outcome.state = g.settle(ctx)
		g.outcome.endNs = g.clock.Now() - g.t0
		g.stop.Store(true)
		for _, s := range g.senders {
			s.close()
		}
		// The pacer looks at the stop flag at least every 20 ms, unless the library blocks it.
		select {
		case <-g.paced:
		case <-time.After(200 * time.Millisecond):
		}
		g.recorder.Close()
		tried := g.closeSends()
		g.outcome.warmup = g.books.count("warmup", tried)
		g.outcome.window = g.books.count("window", tried)
		g.books.findLost(tried, g.schedule.Offset)
		// A library forgets its counts with its connections.
		g.outcome.clientDropped = g.session.Dropped()
		// Subtle: this may release a send call that still blocks; what it reports is no longer counted.
		closed := make(chan error, 1)
		go func() { closed <- g.session.Close() }()
		select {
		case err := <-closed:
			if err != nil {
				g.books.note(err, nil)
			}
		case <-time.After(5 * time.Second):
		}
		g.results.end()
	})
	<-g.concluded
}

// --- internal ---

// settle waits for the end of the schedule and of its messages, and says how it came.
func (g *Generator) settle(ctx context.Context) string {
	deadline := g.t0 + g.plan.windowEndNs() + g.plan.DrainNs
	for {
		if g.settled() {
			return "complete"
		}
		if g.clock.Now() >= deadline {
			return "complete"
		}
		select {
		case <-ctx.Done():
			g.stop.Store(true)
			limit := time.Now().Add(interruptDrain)
			for time.Now().Before(limit) && !g.nothingInFlight() {
				time.Sleep(settlePoll)
			}
			return "interrupted"
		case <-time.After(settlePoll):
		}
	}
}

// settled: the pacer is through, no sender waits at its gate, and every message was received or failed.
func (g *Generator) settled() bool {
	select {
	case <-g.paced:
	default:
		return false
	}
	for _, s := range g.senders {
		if !s.idle() {
			return false
		}
	}
	return g.nothingInFlight()
}

func (g *Generator) nothingInFlight() bool {
	t := g.recorder.Totals()
	return t.Sent-t.Settled <= 0 && (!g.facts.Acks || t.Sent-t.Acked-g.books.failures.Load() <= 0)
}

// inFlight is how many messages were sent and are neither received nor failed.
func (g *Generator) inFlight() int64 {
	t := g.recorder.Totals()
	return t.Sent - t.Settled
}

// closeSends decides what became of the messages that were due and not sent: kept from leaving by the system, they
// failed; kept by the generator, they were not offered. It returns for each producer how many were tried.
func (g *Generator) closeSends() []int64 {
	tried := make([]int64, len(g.senders))
	waitNs := g.pace.waitNs.Load()
	for p, s := range g.senders {
		called := s.called.Load()
		tried[p] = max(called, s.handedOver())
		from := called
		if callNs := s.callNs.Load(); callNs != idle {
			// Its send call has not returned: that message did not leave, and nor did what is behind it.
			from--
			waitNs += g.outcome.endNs - callNs
		}
		for seq := from; seq < tried[p]; seq++ {
			i := seq*int64(g.plan.Producers) + int64(p)
			g.books.failed(i, g.schedule.Offset(i))
		}
	}
	for i := g.pace.next.Load(); i < g.plan.Schedule.Messages; i++ {
		offsetNs := g.schedule.Offset(i)
		if offsetNs >= min(g.outcome.endNs, g.horizonNs.Load()) || 2*waitNs < g.outcome.endNs-offsetNs {
			break
		}
		g.books.failed(i, offsetNs)
		tried[i%int64(g.plan.Producers)] = i/int64(g.plan.Producers) + 1
	}
	return tried
}
