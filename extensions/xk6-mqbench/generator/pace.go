package generator

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
)

const (
	// claimWaitNs is how often the pacer looks for new claims when k6 is behind.
	claimWaitNs = int64(200 * time.Microsecond)
	// heldNs is how long a send call may hold the pacer before another thread goes on with the other connections.
	heldNs = int64(2 * time.Millisecond)
)

// pacePosition is where the pacer is. It belongs to the pacer until paced is closed, or until a caller that finds it in a send call
// swaps callNs for relieved.
type pacePosition struct {
	_ [64]byte // the pacer writes it for each message
	// callNs is when the pacer's current send call began, ns since T0; or idle, or relieved.
	callNs atomic.Int64
	// next is the first message that the pacer has not handled.
	next int64
	// waitNs is how late an ideal generator would be at that message (see wait).
	waitNs int64
	// brokeOffNs is when the pacer ended before its schedule did, ns since T0; math.MaxInt64 until then.
	brokeOffNs int64
	_          [64]byte
}

const (
	// idle means that no send call is under way.
	idle = -1
	// relieved means that the thread in this call is no longer the pacer.
	relieved = -2
)

// run makes the pacer of an open load and walks the schedule in the pacer's thread.
func (g *Generator) run(ready chan<- struct{}) {
	if len(g.senders) == 0 { // one of several clients, with consumers only
		close(ready)
		close(g.paced)
		return
	}
	gapNs := g.plan.windowEndNs() / g.plan.Schedule.Messages
	if rate := g.plan.Schedule.Rate; rate != nil { // for stages, the highest rate
		gapNs = rate.PerNs / rate.Messages
	}
	gapNs = gapNs * g.share.producers / int64(len(g.senders))
	pacing := g.plan.Pacing
	pacing.Loads = g.plan.Loads
	g.pacer = pacer.New(g.clock.Now, &g.stop, gapNs, pacing)
	close(ready)
	select {
	case <-g.started:
	case <-g.concluded:
		g.pacer.Close()
		close(g.paced)
		return
	}
	// The start of a load beside another may be far away, and claims are looked for all the time.
	select {
	case <-g.sendsOver:
	case <-time.After(time.Duration(g.t0 + g.plan.beginNs() - g.clock.Now() - startAheadNs)):
	}
	g.walk(g.pacer, g.pace.next, wait{offsetNs: g.plan.beginNs()})
}

// walk sends the messages from the given one on. It waits for each one's time, sends it, and never moves or skips one. It ends when it
// comes back from a send call and finds that another thread has taken over.
func (g *Generator) walk(p *pacer.Pacer, from int64, wait wait) {
	defer p.Close()
	for steps := g.share.from(from); steps.i() < g.intendedMessages.Load(); steps.next() {
		m := g.message(steps.producer(), steps.seq)
		i, offsetNs := m.Index, m.OffsetNs
		// k6 may be behind with its claims. That is lag: the system did not cause it.
		for g.horizonNs.Load() <= offsetNs && !g.stop.Load() {
			p.WaitUntil(g.clock.Now() + claimWaitNs)
		}
		now := p.WaitUntil(g.t0 + offsetNs)
		if g.stop.Load() {
			wait.until(offsetNs) // with the time that the last call was held
			g.pace.waitNs, g.pace.brokeOffNs = wait.ns, now-g.t0
			break
		}
		s := g.byProducer[m.Producer]
		wait.until(offsetNs)
		g.pace.waitNs, g.pace.next = wait.ns, i+1
		if s.connection.inFlight.Load() > 0 && g.opener == nil {
			g.books.Behind(i)
		}
		if !s.admit(m.Sequence, wait.ns) {
			g.put(m)
			continue
		}
		callNs := now - g.t0
		g.pace.callNs.Store(callNs)
		wait.ns += s.transmit(m, callNs, wait.ns)
		s.connection.unlock()
		if !g.pace.callNs.CompareAndSwap(callNs, idle) {
			return
		}
	}
	close(g.paced)
}

// wait is how late an ideal generator, whose own work takes no time, would be at the next message, given how long the system held its send
// calls. This is Lindley's recursion W(i+1) = max(0, W(i) + S(i) - (offset(i+1) - offset(i))). A generator that is itself late is later
// than that; the difference is lag.
type wait struct {
	// ns is W for the message at offsetNs.
	ns       int64
	offsetNs int64
}

func (w *wait) until(offsetNs int64) {
	w.ns = max(0, w.ns-(offsetNs-w.offsetNs))
	w.offsetNs = offsetNs
}

const (
	// stretches is how many busy stretches of the past a calendar remembers, keptNs how long one must be for that.
	stretches = 16
	keptNs    = int64(200_000)
)

// calendar is when an ideal generator, whose own work takes no time, would have been in send calls on a connection. A send begins at the
// first free moment at or after its intended time, and takes as long as the real call did:
//
//	start(n) = first free moment >= at(n), busy: [start(n), start(n) + S(n))
//
// Where messages come in the order of their times that is Lindley's recursion. Subtle: they need not. When our own work made a burst of
// late messages, one producer's may be sent before older ones of another. Counting on from the end of the call before would make the older
// ones wait, on paper, for messages that were due long after them.
type calendar struct {
	// last is the newest busy stretch, past are older ones, ascending.
	last stretch
	past []stretch
}

type stretch struct{ fromNs, untilNs int64 }

// free is the first moment at or after the given one at which nothing is sent.
func (c *calendar) free(atNs int64) int64 {
	if atNs < c.last.fromNs {
		for _, s := range c.past {
			if s.fromNs <= atNs {
				atNs = max(atNs, s.untilNs)
			}
		}
	}
	if atNs < c.last.fromNs {
		return atNs
	}
	return max(atNs, c.last.untilNs)
}

// book notes a send call of length ns at startNs, which free has returned.
func (c *calendar) book(startNs, ns int64) {
	switch {
	case startNs > c.last.untilNs:
		if c.last.untilNs-c.last.fromNs >= keptNs {
			c.keep()
		}
		c.last = stretch{startNs, startNs + ns}
	case startNs >= c.last.fromNs:
		c.last.untilNs += ns
	default:
		for k := range c.past {
			if c.past[k].untilNs == startNs {
				c.past[k].untilNs += ns
				return
			}
		}
	}
}

// --- internal ---

// relieve looks at the pacer. If a send call holds it, another thread takes over, because a client library that blocks on one connection
// must not hold up the others. The connection itself stays with the held thread; messages that become due there go to the goroutines of its
// senders. An ideal generator with one thread would have waited until now, and the new thread counts that as waiting.
func (g *Generator) relieve() {
	callNs := g.pace.callNs.Load()
	if callNs < 0 || len(g.connections) < 2 || g.stop.Load() {
		return
	}
	nowNs := g.clock.Now() - g.t0
	heldForNs := nowNs - callNs - g.stopped(callNs, nowNs)
	if heldForNs < heldNs || !g.pace.callNs.CompareAndSwap(callNs, relieved) {
		return
	}
	next := g.pace.next
	wait := wait{ns: g.pace.waitNs + heldForNs, offsetNs: g.schedule.Offset(next - 1)}
	go func() { g.walk(g.pacer.Renew(), next, wait) }() // the pacer belongs to the thread that renews it
}

// message takes one from the pool and does the slow work early, before the stamps; later it would count as service time.
func (g *Generator) message(producer, seq int64) *broker.Message {
	m := g.take(seq*int64(g.plan.Producers) + producer)
	m.Producer, m.Sequence = producer, seq
	if !g.closed {
		m.OffsetNs = g.schedule.Offset(m.Index)
	}
	envelope.Put(m.Payload, envelope.Envelope{
		Run: g.plan.RunNumber, Producer: uint32(producer), Stream: g.route(m), Sequence: uint64(seq),
	})
	g.body.Fill(m.Payload, m.Index)
	if g.plan.Message.Checksum {
		m.BodySum = envelope.Sum(m.Payload)
	}
	return m
}

// route sets key and partition of a message, and returns the stream in which its order counts.
func (g *Generator) route(m *broker.Message) uint32 {
	if g.keys == nil {
		m.Partition = int32(m.Sequence % g.streams)
		return uint32(m.Partition)
	}
	key := g.keys.Number(m.Index)
	m.Partition, m.Key = -1, g.keys.Bytes(key)
	return uint32(key)
}

func (g *Generator) stamp(m *broker.Message) {
	envelope.Stamp(m.Payload, m.OffsetNs, m.SentNs, m.LagNs)
	if g.plan.Message.Checksum {
		envelope.Seal(m.Payload, m.BodySum)
	}
}

// keep moves the newest stretch to the past. If there are too many, it drops the stretch that is shortest for its age. A long block is then
// remembered while short ones come and go, but not for ever.
func (c *calendar) keep() {
	if c.past == nil {
		c.past = make([]stretch, 0, stretches)
	}
	if len(c.past) == stretches {
		shortest, least := 0, 0.0
		for k, s := range c.past {
			share := float64(s.untilNs-s.fromNs) / float64(max(1, c.last.untilNs-s.untilNs))
			if k == 0 || share < least {
				shortest, least = k, share
			}
		}
		c.past = slices.Delete(c.past, shortest, shortest+1)
	}
	c.past = append(c.past, c.last)
}
