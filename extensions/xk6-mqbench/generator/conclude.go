package generator

import (
	"context"
	"maps"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// interruptDrain is how long the senders of an interrupted run may go on, and then how long it waits for messages in flight.
	interruptDrain = 500 * time.Millisecond
	settlePoll     = 2 * time.Millisecond
	// haltNs is how long a send call of the pacer may take at the end.
	haltNs = int64(200 * time.Millisecond)
	// lookNs is how long the books stay open for further copies when every message has settled, where an SLA line counts them: a second
	// send after a time-out or a lost connection comes within about a second. A broker's own redelivery takes up to minutes, for which
	// no run should wait, so reports show how long it looked.
	lookNs = int64(2 * time.Second)
)

// outcome is the content of the books at the end.
type outcome struct {
	state string
	endNs int64
	// lookedNs is how long the books stayed open after that; nil if no SLA line counts later copies.
	lookedNs *int64
	// library is the driver's counts, by their name in the line of totals; nil if the driver does not count.
	library        map[string]any
	warmup, window books.Counters
	// tried[p] is how many messages of producer p were sent or prevented from leaving.
	tried []int64
}

// conclude waits until every message is settled, the drain is over or ctx ends. Then it closes the books and leaves the broker; one of
// several clients leaves when it is allowed to. All callers return when that is done.
func (g *Generator) conclude(ctx context.Context) {
	g.concludeOnce.Do(func() {
		defer close(g.concluded)
		if g.closed {
			g.outcome.state = g.runClosed(ctx)
		} else {
			g.outcome.state = g.settle(ctx)
		}
		g.outcome.endNs = g.clock.Now() - g.t0
		if g.plan.looks() {
			g.look(ctx)
		}
		g.endSends()
		for _, s := range g.senders {
			s.close()
		}
		callNs := g.halt()
		var came map[string]any
		if g.opener != nil {
			came = g.opener.end()
		}
		g.recorder.Close()
		if g.closed {
			g.recorder.End(g.outcome.endNs)
		}
		tried := g.closeSends(callNs)
		g.outcome.tried = tried
		g.outcome.warmup = g.books.Count("warmup", tried)
		g.outcome.window = g.books.Count("window", tried)
		g.books.FindLost(tried, g.intended)
		// Read these first: a library forgets its counts with its connections, and clients that are connected to each other lose some when the
		// first of them leaves.
		g.outcome.library = g.libraryCounts()
		maps.Copy(g.outcome.library, came)
		if g.share.count > 1 || g.plan.Loads > 1 && g.handedOut {
			_, peer := broker.Ability[broker.Peer](g.session)
			g.parting.Store(peer)
			g.awaitFinish(ctx)
		}
		close(g.ending)
		g.members.running.Wait()
		// Subtle: this may release a send call that still blocks. Its report is no longer counted.
		g.leave()
		g.results.end()
	})
	<-g.concluded
}

// --- internal ---

// settle waits for the end of the schedule and of its messages, and returns how the run ended. Where messages cross, the coordinator, which gets the
// counts of all clients, ends the drain. If the broker is gone a send call may hang beyond the schedule.
func (g *Generator) settle(ctx context.Context) string {
	for hear := g.told; ; {
		told := happened(g.told)
		switch {
		case !g.crosses && g.settled(), g.waited(g.t0+g.endNs.Load()) >= g.plan.DrainNs,
			told && (g.sent() || g.clock.Now() >= g.t0+g.plan.windowEndNs()):
			return "complete"
		case told && g.share.count > 1:
			return "interrupted" // there was more to send
		}
		select {
		case <-hear:
			hear = nil
		case <-ctx.Done():
			return g.interrupt()
		case <-time.After(settlePoll):
		}
	}
}

func (g *Generator) libraryCounts() map[string]any {
	all := g.sessions(true)
	counts := map[string]any{
		"clientDropped": over(all, broker.Dropped, plus), "reconnects": over(all, broker.Reconnects, plus),
		"throttledNs": over(all, broker.ThrottledNs, largest),
	}
	if n := over(all, broker.Requests, plus); n != nil { // others cost nothing
		counts["requests"] = *n
	}
	return counts
}

func happened(event <-chan struct{}) bool {
	select {
	case <-event:
		return true
	default:
		return false
	}
}

// waited is how long this process has been able to wait since the given reading of the clock. Time in which it was stopped does not count
// against the system, because messages that arrived during a stop are still unread.
func (g *Generator) waited(sinceNs int64) int64 {
	now := g.clock.Now()
	if now <= sinceNs {
		return now - sinceNs
	}
	return now - sinceNs - g.stops.during(sinceNs, now)
}

// look keeps the books open for further copies, within the drain. Where messages do not cross, the command to close them means that the broker is gone.
func (g *Generator) look(ctx context.Context) {
	from := g.clock.Now()
	deadline := min(from+lookNs, g.t0+g.endNs.Load()+g.plan.DrainNs)
	told := g.told
	if g.crosses {
		told = nil
	}
	if g.outcome.state == "complete" && deadline > from {
		select {
		case <-ctx.Done():
		case <-told:
		case <-time.After(time.Duration(deadline - from)):
		}
	}
	looked := g.clock.Now() - from
	g.outcome.lookedNs = &looked
}

// interrupt ends the load of a run that is stopped. Messages with a sender, or in flight, have time to complete; else they would count as lost.
func (g *Generator) interrupt() string {
	g.endSends()
	g.awaitInterrupted(g.settled)
	for _, s := range g.senders {
		s.close()
	}
	g.awaitInterrupted(g.flown)
	return "interrupted"
}

// awaitInterrupted waits until it is done, at most for interruptDrain; for all of it where messages of other clients may be on their way.
func (g *Generator) awaitInterrupted(done func() bool) {
	limit := time.Now().Add(interruptDrain)
	for time.Now().Before(limit) && (g.crosses || !done()) {
		time.Sleep(settlePoll)
	}
}

// settled reports whether all messages have been sent, no sender waits or is in a send call, and every message has completed or failed.
func (g *Generator) settled() bool {
	if !g.sent() {
		return false
	}
	for _, s := range g.senders {
		if s.busy.Load() {
			return false
		}
	}
	return g.flown()
}

// flown is settled without the messages that still wait for their sender.
func (g *Generator) flown() bool {
	if !g.sent() {
		return false
	}
	for c := range g.connections {
		if !g.connections[c].quiet() {
			return false
		}
	}
	return g.nothingInFlight()
}

// sent reports whether the pacer has reached the end of the schedule.
func (g *Generator) sent() bool { return happened(g.paced) }

func (g *Generator) nothingInFlight() bool {
	t := g.recorder.Totals()
	unanswered := t.Sent.All - t.Acked.All - g.books.Failures.Load() - g.books.Unanswered.Load()
	return g.slotsTaken() == 0 && t.Sent.All-t.Settled <= 0 && (!g.facts.Acks || unanswered <= 0)
}

// closeSends decides the fate of messages that were due and not sent: failed if the system held them up, not offered if the generator did. callNs is
// when the call began that the pacer hangs in, or idle. It returns how many messages each producer tried.
func (g *Generator) closeSends(callNs int64) []int64 {
	tried := make([]int64, g.plan.Producers)
	for _, s := range g.senders {
		p := s.producer
		called := s.called.Load()
		tried[p] = called
		if s.busy.Load() { // others have become due
			tried[p] = max(called, s.due.Load())
		}
		from, offsetNs := called, s.callNs.Load()
		if offsetNs != idle {
			// Its send call has not returned: this message did not leave, and neither did those behind it.
			from--
		}
		for seq := from; seq < tried[p]; seq++ {
			if !g.closed {
				offsetNs = g.schedule.Offset(seq*int64(g.plan.Producers) + p)
			}
			g.books.Failed(p, seq, offsetNs)
		}
	}
	if g.closed || len(g.senders) == 0 {
		return tried
	}
	waitNs, endNs := g.pace.waitNs, min(g.outcome.endNs, g.pace.brokeOffNs)
	if callNs != idle {
		waitNs += endNs - callNs
	}
	for steps := g.share.from(g.pace.next); steps.i() < g.intendedMessages.Load(); steps.next() {
		p, offsetNs := steps.producer(), g.schedule.Offset(steps.i())
		if offsetNs >= min(endNs, g.horizonNs.Load()) || 2*waitNs < endNs-offsetNs {
			break
		}
		g.books.Failed(p, steps.seq, offsetNs)
		tried[p] = steps.seq + 1
	}
	return tried
}

// halt waits for the pacer to notice the end, within 20 ms of its own time. If the library blocks it, it comes back to a run that goes
// on without it, and halt returns when that call began; otherwise idle.
func (g *Generator) halt() (callNs int64) {
	for began := g.clock.Now(); !g.sent(); time.Sleep(settlePoll) {
		callNs, late := g.pace.callNs.Load(), g.clock.Now()-began > haltNs
		if late && callNs >= 0 && g.pace.callNs.CompareAndSwap(callNs, relieved) {
			return callNs
		}
		if late && g.closed { // its senders hang by themselves
			break
		}
	}
	return idle
}
