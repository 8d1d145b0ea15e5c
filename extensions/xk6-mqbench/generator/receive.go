package generator

import (
	"errors"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// receive is the handler of one subscription on a connection: the subscriber has received the messages that arrive there. In request-reply
// they are the replies. A member of a group takes nothing in its pauses.
func (g *Generator) receive(connection, subscriber int, pauses ...Backlog) broker.Handler {
	shard := g.receipts(connection)
	consumes := g.plan.Pattern == workQueue || g.plan.Pattern == backlog
	return func(d broker.Delivery) {
		e, i, what := g.identify(d.Payload)
		// Where messages do not cross, ignore other clients' messages, too.
		if what == ours && !g.books.Expects(subscriber, int64(e.Producer)) {
			what = foreign
		}
		if what == foreign {
			g.books.Foreign.Add(1)
			return
		}
		if !g.hasT0() {
			return
		}
		atNs := d.ReceivedNs - g.t0
		if consumes {
			atNs = g.pause(atNs, pauses)
		}
		if shard.Enter() {
			if d.Redelivered {
				g.books.Redelivered(i, e.Intended)
			}
			if what == corrupted {
				g.books.Corrupted(i, e.Intended)
				shard.Leave()
			} else {
				g.receipt(shard, subscriber, i, e, atNs)
			}
		}
		if consumes {
			g.work(max(i, 0))
		}
	}
}

// receipt records a delivery of message i. It leaves the shard, which the caller has entered.
func (g *Generator) receipt(shard *recorder.Shard, subscriber int, i int64, e envelope.Envelope, atNs int64) {
	p, seq := int64(e.Producer), int64(e.Sequence)
	first := g.books.Received(subscriber, p, seq, int64(e.Stream), e.Intended)
	g.members.note(e.Intended, atNs, first)
	if !first {
		shard.Leave()
		return
	}
	shard.Received(i, atNs)
	if g.plan.Pattern == catchUp {
		g.catching.received(atNs, atNs-e.Intended)
	}
	if g.responds {
		g.complete(shard, i, e.Intended, atNs, e.Sent, e.Lag)
	}
	if g.crosses { // its sender gets no notice of it
		shard.Leave()
		return
	}
	lastNs, all := g.books.Arrived(p, seq, atNs)
	if all {
		shard.Last(i, e.Intended, lastNs, e.Lag)
		g.byProducer[p].settle(shard, seq, atNs, e.Sent, e.Lag)
	} else {
		shard.Leave()
	}
}

// complete records that a response of message i ended. Call it between the shard's Enter and Leave.
func (g *Generator) complete(shard *recorder.Shard, i, offsetNs, atNs, sentNs, lagNs int64) {
	shard.Completed(i, offsetNs, atNs, sentNs, lagNs)
	if atNs-offsetNs > g.plan.TimeoutNs {
		g.books.Late(i)
	}
}

type identity int

const (
	ours identity = iota
	corrupted
	foreign
)

// identify finds out which message a payload belongs to and whether it is undamaged. If the envelope cannot be ours, it corrects the
// intended time as far as possible. The message is books.NoMessage if the payload is damaged where its number is.
func (g *Generator) identify(payload []byte) (envelope.Envelope, int64, identity) {
	e, ok := envelope.Get(payload)
	producers := int64(g.plan.Producers)
	i := int64(books.NoMessage)
	if ok && e.Run == g.plan.RunNumber && int64(e.Producer) < producers && e.Sequence <= uint64(g.plan.Schedule.Messages) {
		i = int64(e.Sequence)*producers + int64(e.Producer)
	}
	if i == books.NoMessage || i >= g.plan.Schedule.Messages {
		// Only mqbench sends to its own topics; intact messages there are from another run that shares them.
		if g.plan.Create && g.plan.Message.Checksum && !envelope.Intact(payload) {
			return envelope.Envelope{Intended: books.NoTime}, books.NoMessage, corrupted
		}
		return e, books.NoMessage, foreign
	}
	intended := g.intended(i)
	due := intended
	if g.closed {
		due = e.Sent
	}
	what := ours
	if e.Intended != due || e.Lag < 0 || e.Lag > e.Sent-due || int64(e.Stream) >= g.streams || len(payload) != g.sizes.Of(i) {
		e.Intended, what = intended, foreign
	}
	// With checksums, a message that claims to be ours and cannot be was changed on its way.
	if g.plan.Message.Checksum && (what == foreign || !envelope.Intact(payload)) {
		what = corrupted
	}
	return e, i, what
}

// The intended time of message i. In closed loads that is the time of its send call, which only the message contains.
func (g *Generator) intended(i int64) int64 {
	if g.closed {
		return books.NoTime
	}
	return g.schedule.Offset(i)
}

func (g *Generator) done(m *broker.Message, ackNs int64, err error) {
	s := g.byProducer[m.Producer]
	switch {
	case err != nil:
		if s.acks.Enter() {
			if errors.Is(err, broker.ErrUnknown) {
				g.books.Unknown(m.Producer, m.Sequence)
			} else {
				g.books.Failed(m.Producer, m.Sequence, m.OffsetNs)
			}
			s.settle(s.acks, m.Sequence, g.clock.Now()-g.t0, m.SentNs, m.LagNs)
			g.errors.NoteAt(err, m.OffsetNs)
		}
		// A request may still be on its way with this payload in it, so do not write to it again.
		return
	case g.facts.Acks:
		g.acknowledged(s, m, ackNs-g.t0)
	}
	if g.opener == nil { // a new connection's library may still write it
		g.put(m)
	}
}

// acknowledged records an acknowledgement. It ends the response in the pattern publish, and is all that the sender gets where messages cross.
func (g *Generator) acknowledged(s *sender, m *broker.Message, atNs int64) {
	if !s.acks.Enter() {
		return
	}
	g.books.Acked(m.Producer, m.Sequence)
	s.acks.Acked(m.Index, m.OffsetNs, atNs, m.LagNs)
	if g.plan.Pattern == publish {
		g.complete(s.acks, m.Index, m.OffsetNs, atNs, m.SentNs, m.LagNs)
	}
	if g.plan.Pattern == publish || g.crosses {
		s.settle(s.acks, m.Sequence, atNs, m.SentNs, m.LagNs)
	} else {
		s.acks.Leave()
	}
}
