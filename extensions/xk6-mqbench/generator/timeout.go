package generator

import "time"

// timeouts knows roughly when each message of a producer was sent, in memory that does not grow with the number of messages: a
// producer sends in order, so one moment says of all sequences below a number that they had been sent by then.
type timeouts struct {
	// moments are those of the last timeout, the oldest first.
	moments []moment
	// noted and notedNs are those of the newest moment.
	noted, notedNs int64
	// from is the first sequence that may still have its slot and has not timed out.
	from int64
}

// moment: at atNs (ns since T0) the sequences below called had been handed to the library, the last one with that lag.
type moment struct{ atNs, lagNs, called int64 }

// timeoutStepNs is how exactly a timeout is kept: a slot comes back at most two steps after it.
func (p *Plan) timeoutStepNs() int64 {
	return max(int64(5*time.Millisecond), min(int64(100*time.Millisecond), p.TimeoutNs/50))
}

// watchTimeouts expires messages until the books are closed.
func (g *Generator) watchTimeouts() {
	ticker := time.NewTicker(time.Duration(g.plan.timeoutStepNs()))
	defer ticker.Stop()
	for {
		select {
		case <-g.concluded:
			return
		case <-ticker.C:
		}
		g.expire()
	}
}

// expire gives back the slots of messages that have not completed within the timeout, and reports whether others may time out yet.
// Such a message may still complete, and is recorded then with its true time. One goroutine calls it.
func (g *Generator) expire() (pending bool) {
	nowNs := g.clock.Now() - g.t0
	for _, s := range g.senders {
		s.expire(nowNs)
		pending = pending || s.timeouts.from < s.called.Load()
	}
	return pending
}

// --- internal ---

func (s *sender) expire(nowNs int64) {
	t := &s.timeouts
	lagNs, called := s.lagNs.Load(), s.called.Load()
	if called > t.noted && 2*(nowNs-t.notedNs) >= s.g.plan.timeoutStepNs() {
		t.moments = append(t.moments, moment{nowNs, lagNs, called})
		t.noted, t.notedNs = called, nowNs
	}
	for len(t.moments) > 0 && t.moments[0].atNs+s.g.plan.TimeoutNs <= nowNs {
		s.giveUp(t.moments[0], nowNs)
		t.from = t.moments[0].called
		t.moments = t.moments[1:]
	}
}

// giveUp releases what was sent before the moment. The slots come back now to an ideal generator too, less the lag: that it looks only so
// often is how exactly a timeout is kept. Taken for lateness, it would add up over the slots that time out one after another.
func (s *sender) giveUp(m moment, nowNs int64) {
	g, p := s.g, int64(s.producer)
	for seq := g.books.NextHeld(p, s.timeouts.from, m.called); seq < m.called; seq = g.books.NextHeld(p, seq+1, m.called) {
		i := seq*int64(g.plan.Producers) + p
		if s.release(i, nowNs, m.atNs, m.lagNs) {
			g.books.TimedOut(i)
		}
	}
	g.books.Forget(p, m.called)
}
