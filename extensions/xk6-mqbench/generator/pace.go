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
	// callNs is when the send call that it is in began, ns since T0; -1: it is in none.
	callNs atomic.Int64
	// blockNs is the time that send calls blocked since the pacer last was on time.
	blockNs atomic.Int64
}

// run walks the schedule in the pacer's thread: it waits for each message's time, sends it, and never moves or skips one.
func (g *Generator) run(ready chan<- struct{}) {
	defer close(g.paced)
	rate := g.plan.Schedule.Rate
	g.pacer = pacer.New(g.clock.Now, &g.stop, rate.PerNs/rate.Messages)
	defer g.pacer.Close()
	g.pace.callNs.Store(-1)
	close(ready)
	select {
	case <-g.started:
	case <-g.concluded:
		return
	}
	producers := int64(g.plan.Producers)
	var blockNs int64
	for i := range g.plan.Schedule.Messages {
		offsetNs := g.schedule.Offset(i)
		m := g.message(i)
		if g.horizonNs.Load() <= offsetNs {
			// k6 is behind: that is lag, not something the system caused.
			blockNs = 0
			for g.horizonNs.Load() <= offsetNs && !g.stop.Load() {
				g.pacer.WaitUntil(g.clock.Now() + claimWaitNs)
			}
		}
		now := g.clock.Now()
		if now < g.t0+offsetNs {
			// On time: no earlier call can be the reason if this message leaves late.
			blockNs = 0
			now = g.pacer.WaitUntil(g.t0 + offsetNs)
		}
		if g.stop.Load() {
			return
		}
		s := g.senders[i%producers]
		callNs := now - g.t0
		if !s.admit(i/producers, callNs) {
			g.messages.Put(m)
			g.pace.next.Store(i + 1)
			continue
		}
		g.pace.blockNs.Store(blockNs)
		g.pace.callNs.Store(callNs)
		g.pace.next.Store(i + 1)
		blockNs += s.transmit(m, offsetNs, callNs, blockNs)
		g.pace.callNs.Store(-1)
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
