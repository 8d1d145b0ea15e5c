package generator

import (
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
)

// claimWaitNs is how often the pacer looks for new claims when k6 is behind.
const claimWaitNs = int64(200 * time.Microsecond)

// pacePosition is where the pacer is, for those who close the books while it may hang in a send call.
type pacePosition struct {
	// next is the first message that the pacer has not dealt with.
	next atomic.Int64
	// waitNs is how late an ideal generator would be there (see wait).
	waitNs atomic.Int64
}

// idle is the time of a send call that is not under way.
const idle = -1

// run walks the schedule in the pacer's thread: it waits for each message's time, sends it, and never moves or skips one.
func (g *Generator) run(ready chan<- struct{}) {
	defer close(g.paced)
	rate := g.plan.Schedule.Rate
	g.pacer = pacer.New(g.clock.Now, &g.stop, rate.PerNs/rate.Messages)
	defer g.pacer.Close()
	close(ready)
	select {
	case <-g.started:
	case <-g.concluded:
		return
	}
	producers := int64(g.plan.Producers)
	var wait wait
	for i := range g.plan.Schedule.Messages {
		offsetNs := g.schedule.Offset(i)
		m := g.message(i)
		// k6 may be behind with its claims: that is lag, and nothing that the system caused.
		for g.horizonNs.Load() <= offsetNs && !g.stop.Load() {
			g.pacer.WaitUntil(g.clock.Now() + claimWaitNs)
		}
		now := g.pacer.WaitUntil(g.t0 + offsetNs)
		if g.stop.Load() {
			return
		}
		s := g.senders[i%producers]
		wait.until(offsetNs)
		g.pace.waitNs.Store(wait.ns)
		g.pace.next.Store(i + 1)
		if s.connection.inFlight.Load() > 0 {
			g.books.behind(i)
		}
		if !s.admit(i/producers, wait.ns) {
			g.messages.Put(m)
			continue
		}
		wait.add(s.transmit(m, offsetNs, now-g.t0, wait.ns))
	}
}

// --- internal ---

// message takes one from the pool and fills its body, which happens while there is time, before the stamps.
func (g *Generator) message(i int64) *broker.Message {
	m := g.messages.Get().(*broker.Message)
	m.Index = i
	g.body.Fill(m.Payload, i)
	return m
}

func (g *Generator) stamp(m *broker.Message, producer int, seq, offsetNs int64) {
	envelope.Put(m.Payload, envelope.Envelope{
		Run:      g.plan.RunNumber,
		Producer: uint32(producer),
		Stream:   uint32(m.Topic),
		Sequence: uint64(seq),
		Intended: offsetNs,
		Sent:     m.SentNs,
	})
	if g.plan.Message.Checksum {
		envelope.Seal(m.Payload)
	}
}
