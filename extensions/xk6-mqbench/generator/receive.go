package generator

import (
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// receive is the handler of one subscription; it records into shard.
func (g *Generator) receive(shard *recorder.Shard) broker.Handler {
	return func(d broker.Delivery) {
		e, i, what := g.identify(d.Payload)
		if what == foreign {
			g.books.foreign.Add(1)
			return
		}
		if !shard.Enter() {
			return
		}
		if d.Redelivered {
			g.books.redelivered(i, e.Intended)
		}
		if what == corrupted {
			g.books.corrupted(i, e.Intended)
			shard.Leave()
			return
		}
		if g.books.received(i, e.Intended) {
			atNs := d.ReceivedNs - g.t0
			shard.Completed(i, e.Intended, atNs, e.Sent, g.flight.lag(i))
			if atNs-e.Intended > g.plan.TimeoutNs {
				g.books.late(i)
			}
			first := g.books.settle(i)
			if first {
				shard.Settled()
			}
			shard.Leave()
			g.flight.arrive(i)
			if first {
				g.senders[e.Producer].release(atNs)
			}
			return
		}
		shard.Leave()
	}
}

type identity int

const (
	ours identity = iota
	corrupted
	foreign
)

// identify reads whose payload it is, and finds out whether it is as it was sent.
func (g *Generator) identify(payload []byte) (envelope.Envelope, int64, identity) {
	e, ok := envelope.Get(payload)
	producers := int64(g.plan.Producers)
	if !ok || e.Run != g.plan.RunNumber || int64(e.Producer) >= producers || e.Sequence > uint64(g.plan.Schedule.Messages) {
		return e, 0, foreign
	}
	i := int64(e.Sequence)*producers + int64(e.Producer)
	if i >= g.plan.Schedule.Messages {
		return e, 0, foreign
	}
	if intended := g.schedule.Offset(i); e.Intended != intended || len(payload) != g.plan.Message.Bytes {
		e.Intended = intended
		return e, i, g.changed()
	}
	if g.plan.Message.Checksum && !envelope.Intact(payload) {
		return e, i, corrupted
	}
	return e, i, ours
}

// changed is what a message is that says it is ours and cannot be: with checksums we know that it was changed on its way.
func (g *Generator) changed() identity {
	if g.plan.Message.Checksum {
		return corrupted
	}
	return foreign
}

// done is the completion of every send call.
func (g *Generator) done(m *broker.Message, ackNs int64, err error) {
	i := m.Index
	offsetNs := g.schedule.Offset(i)
	switch {
	case err != nil:
		if g.sends.Enter() {
			g.books.failed(i, offsetNs)
			first := g.books.settle(i)
			if first {
				g.sends.Settled()
			}
			g.sends.Leave()
			when := offsetNs // a copy of its own: offsetNs itself would go to the heap for every message
			g.books.note(err, &when)
			if first {
				g.senders[i%int64(g.plan.Producers)].release(g.clock.Now() - g.t0)
			}
		}
	case g.facts.Acks:
		if g.sends.Enter() {
			g.books.acked(i)
			g.sends.Acked(offsetNs, ackNs-g.t0, m.LagNs)
			g.sends.Leave()
		}
	}
	g.messages.Put(m)
}
