package generator

import (
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// receive is the handler of one subscription; it records into shard.
func (g *Generator) receive(shard *recorder.Shard) broker.Handler {
	producers := int64(g.plan.Producers)
	return func(d broker.Delivery) {
		e, ok := envelope.Get(d.Payload)
		i := int64(e.Sequence)*producers + int64(e.Producer)
		if !ok || e.Run != g.plan.RunNumber || int64(e.Producer) >= producers || e.Sequence > uint64(g.plan.Schedule.Messages) ||
			i >= g.plan.Schedule.Messages || e.Intended != g.schedule.Offset(i) || len(d.Payload) != g.plan.Message.Bytes {
			g.books.foreign.Add(1)
			return
		}
		if !shard.Enter() {
			return
		}
		if g.books.received(i) {
			atNs := d.ReceivedNs - g.t0
			shard.Completed(e.Intended, atNs, e.Sent, g.flight.lag(i))
			if atNs-e.Intended > g.plan.TimeoutNs {
				g.books.late(i)
			}
			shard.Leave()
			g.flight.arrive(i)
			g.senders[e.Producer].release()
			return
		}
		shard.Leave()
	}
}

// done is the completion of every send call.
func (g *Generator) done(m *broker.Message, ackNs int64, err error) {
	i := m.Index
	offsetNs := g.schedule.Offset(i)
	switch {
	case err != nil:
		if g.sends.Enter() {
			g.books.failed(i)
			g.sends.Leave()
			g.books.note(err, &offsetNs)
		}
		g.senders[i%int64(g.plan.Producers)].release()
	case g.facts.Acks:
		if g.sends.Enter() {
			g.books.acked(i)
			g.sends.Acked(offsetNs, ackNs-g.t0, m.LagNs)
			g.sends.Leave()
		}
	}
	g.messages.Put(m)
}
