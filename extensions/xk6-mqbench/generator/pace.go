package generator

import (
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
)

const (
	// claimWaitNs is how often the pacer looks for new claims when k6 is behind.
	claimWaitNs = int64(200 * time.Microsecond)
	// heldNs: when a send call holds the pacer for longer, another thread goes on with the other connections.
	heldNs = int64(2 * time.Millisecond)
)

// pacePosition is where the pacer is, for those who close the books, or go on with its work, while it hangs in a send call.
type pacePosition struct {
	// next is the first message that the pacer has not dealt with.
	next atomic.Int64
	// waitNs is how late an ideal generator would be there (see wait).
	waitNs atomic.Int64
	// callNs is when the send call began that the pacer is in, ns since T0; or idle, or relieved.
	callNs atomic.Int64
}

const (
	// idle is the time of a send call that is not under way.
	idle = -1
	// relieved is that of a call whose thread is no longer the pacer.
	relieved = -2
)

// run makes the pacer of an open load and walks the schedule, in the pacer's thread.
func (g *Generator) run(ready chan<- struct{}) {
	if len(g.senders) == 0 { // one of several clients, with consumers only
		close(ready)
		close(g.paced)
		return
	}
	gapNs := g.plan.windowEndNs() / g.plan.Schedule.Messages
	if rate := g.plan.Schedule.Rate; rate != nil { // of stages it is the highest
		gapNs = rate.PerNs / rate.Messages
	}
	gapNs = gapNs * g.share.producers / int64(len(g.senders))
	g.pacer = pacer.New(g.clock.Now, &g.stop, gapNs)
	close(ready)
	select {
	case <-g.started:
	case <-g.concluded:
		g.pacer.Close()
		close(g.paced)
		return
	}
	if len(g.connections) > 1 && !g.facts.Inline {
		go g.relieve()
	}
	g.walk(g.pacer, 0, wait{})
}

// walk sends the messages from the given one on: it waits for each one's time, sends it, and never moves or skips one. Who
// comes back from a send call and finds that another thread went on meanwhile, ends.
func (g *Generator) walk(p *pacer.Pacer, from int64, wait wait) {
	defer p.Close()
	producers := int64(g.plan.Producers)
	steps := g.share.from(from)
	for i := steps.i(); i < g.plan.Schedule.Messages; i = steps.i() {
		steps.next()
		offsetNs := g.schedule.Offset(i)
		m := g.message(i)
		// k6 may be behind with its claims: that is lag, and nothing that the system caused.
		for g.horizonNs.Load() <= offsetNs && !g.stop.Load() {
			p.WaitUntil(g.clock.Now() + claimWaitNs)
		}
		now := p.WaitUntil(g.t0 + offsetNs)
		if g.stop.Load() {
			break
		}
		s := g.byProducer[i%producers]
		wait.until(offsetNs)
		g.pace.waitNs.Store(wait.ns)
		g.pace.next.Store(i + 1)
		if s.connection.inFlight.Load() > 0 {
			g.books.Behind(i)
		}
		if !s.admit(i/producers, wait.ns) {
			g.messages.Put(m)
			continue
		}
		callNs := now - g.t0
		g.pace.callNs.Store(callNs)
		wait.add(s.transmit(m, offsetNs, callNs, wait.ns))
		s.connection.unlock()
		if !g.pace.callNs.CompareAndSwap(callNs, idle) {
			return
		}
	}
	close(g.paced)
}

// --- internal ---

// relieve watches the pacer, and lets another thread go on where it is held in a send call: a client library that blocks
// on one connection holds up no other. The connection itself stays with the held thread; what becomes due there goes to the
// goroutines of its senders. An ideal generator of one thread would have waited until now: that is what the rest is told.
func (g *Generator) relieve() {
	ticker := time.NewTicker(time.Duration(heldNs))
	defer ticker.Stop()
	for {
		select {
		case <-g.paced:
			return
		case <-g.concluded:
			return
		case <-ticker.C:
		}
		callNs := g.pace.callNs.Load()
		heldForNs := g.clock.Now() - g.t0 - callNs
		if callNs < 0 || heldForNs < heldNs || g.stop.Load() || !g.pace.callNs.CompareAndSwap(callNs, relieved) {
			continue
		}
		next := g.pace.next.Load()
		var wait wait
		wait.reset(g.schedule.Offset(next-1), g.pace.waitNs.Load()+heldForNs)
		go g.walk(g.pacer.Renew(), next, wait)
	}
}

// message takes one from the pool and fills its body, which happens while there is time, before the stamps.
func (g *Generator) message(i int64) *broker.Message {
	m := g.messages.Get().(*broker.Message)
	m.Index = i
	stream := g.route(m, i/int64(g.plan.Producers))
	if g.keys != nil {
		// Left where stamp finds it: a key takes time to draw.
		envelope.Put(m.Payload, envelope.Envelope{Stream: stream})
	}
	g.body.Fill(m.Payload, i)
	return m
}

// route sets key and partition of sequence seq, and returns the stream in whose order it counts.
func (g *Generator) route(m *broker.Message, seq int64) uint32 {
	if g.keys == nil {
		m.Partition = int32(seq % g.streams)
		return uint32(m.Partition)
	}
	key := g.keys.Number(m.Index)
	m.Partition, m.Key = -1, g.keys.Bytes(key)
	return uint32(key)
}

func (g *Generator) stamp(m *broker.Message, producer int, seq, offsetNs int64) {
	stream := uint32(m.Partition)
	if g.keys != nil {
		drawn, _ := envelope.Get(m.Payload)
		stream = drawn.Stream
	}
	envelope.Put(m.Payload, envelope.Envelope{
		Run:      g.plan.RunNumber,
		Producer: uint32(producer),
		Stream:   stream,
		Sequence: uint64(seq),
		Intended: offsetNs,
		Sent:     m.SentNs,
	})
	if g.crosses { // whoever receives it knows it from nowhere else
		envelope.PutLag(m.Payload, m.LagNs)
	}
	if g.plan.Message.Checksum {
		envelope.Seal(m.Payload)
	}
}
