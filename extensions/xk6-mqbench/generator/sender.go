package generator

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// sender sends the messages of one producer, in order. The pacer sends for it while its inFlight gate is open and its connection free.
// Otherwise its own goroutine sends the messages that have become due, because other producers must not be held up. In closed loads that
// goroutine sends everything, as fast as inFlight allows.
type sender struct {
	g        *Generator
	producer int64
	// first is its first sequence: above 0 in a further segment of a run.
	first int64
	topic int
	name  string
	out   broker.Producer
	// done is g.done, bound once: making a method value for each call would allocate.
	done broker.Done
	// sends and acks are the shards for its messages: acknowledgements are recorded with the connection's receipts, if there are any.
	sends, acks *recorder.Shard
	// limit of messages in flight; 0 if there is none.
	limit      int64
	connection *connection
	// freedNs is when the last slots that came back would have come back to an ideal generator, ns since T0: release n is at n mod limit, and
	// message n + limit takes its slot. nil if slots have no limit or messages no time.
	freedNs []atomic.Int64
	_       [64]byte // above it nothing writes, below it the completion of messages does

	inFlight, releases atomic.Int64
	gate               gate
	_                  [64]byte // below it the sender does

	// callNs is when the current send call began, ns since T0, or idle.
	callNs atomic.Int64
	// freeNs is when an ideal generator would have been through with this producer's last send. It belongs to the holder of the connection.
	freeNs int64
	// called counts send calls: sequences below it have been handed to the library. lagNs is the lag of the last one.
	called, lagNs atomic.Int64
	// timeouts is only for expire.
	timeouts timeouts

	// busy: the goroutine owns the producer's next message.
	busy atomic.Bool
	// due is the first sequence that the goroutine must not send.
	due    atomic.Int64
	closed atomic.Bool
	// mu is held to make it busy or idle, and guards running.
	mu      sync.Mutex
	running bool
	// next is the sequence that the goroutine sends next, waitedNs the pacer's own wait for the first of a stretch. They are the goroutine's while it is
	// busy.
	next, waitedNs int64
}

func newSender(g *Generator, producer int, on *connection) *sender {
	topic, c := producer%len(g.plan.Topics), g.share.connection(producer)
	s := &sender{
		g: g, producer: int64(producer), topic: topic, name: g.plan.Topics[topic], done: g.done, connection: on,
		limit: g.plan.InFlight, sends: g.recorder.Shard(c % g.sendShards()), acks: g.receipts(c),
	}
	s.first = g.books.Sequences(s.producer, g.books.First)
	s.called.Store(s.first)
	s.timeouts.from, s.timeouts.noted = s.first, s.first
	if s.limit > 0 && !g.closed {
		s.freedNs = make([]atomic.Int64, min(s.limit, g.books.Sequences(s.producer, g.plan.Schedule.Messages)))
	}
	s.callNs.Store(idle)
	s.gate.wake = make(chan struct{}, 1)
	return s
}

// admit reports whether the pacer, which then has the connection, may send message seq itself. If not, the sender's goroutine sends it.
func (s *sender) admit(seq, waitedNs int64) bool {
	if s.limit == 0 && !s.connection.guarded {
		return true
	}
	if !s.busy.Load() && s.connection.try() {
		if s.acquire() {
			return true
		}
		s.connection.unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy.Load() {
		s.busy.Store(true)
		s.next, s.waitedNs = seq, waitedNs
		if !s.running {
			s.running = true
			go s.send()
		}
	}
	s.due.Store(seq + 1)
	s.gate.opened()
	return false
}

// settle takes a message out of flight, and gives back its slot. It leaves the shard, which the caller has entered.
func (s *sender) settle(shard *recorder.Shard, seq, atNs, sentNs, lagNs int64) {
	settled, freed := s.g.books.Settle(s.producer, seq)
	if settled {
		shard.Settled()
	}
	shard.Leave()
	if freed {
		s.release(atNs, sentNs, lagNs)
	}
}

// release gives back the slot of a message that was sent at sentNs with this lag, at the given time, ns since T0. An ideal generator would
// have sent it earlier by the lag, and had it back earlier by the lag and by the generator's stops in that time.
func (s *sender) release(atNs, sentNs, lagNs int64) {
	s.connection.inFlight.Add(-1)
	if s.limit == 0 {
		return
	}
	if s.freedNs != nil {
		n := s.releases.Add(1) - 1
		s.freedNs[n%s.limit].Store(atNs - lagNs - s.g.stopped(sentNs, atNs))
	}
	s.inFlight.Add(-1)
	s.gate.opened()
}

func (s *sender) close() {
	s.closed.Store(true)
	s.gate.opened()
}

// transmit stamps message m and hands it to the library, and returns how long the system held the call. waitedNs is how late an ideal
// generator, whose own work takes no time, would have been because the system held earlier messages:
//
//	start = first moment >= offset + waited at which connection and producer are free (calendar), with a slot (freedNs)
//	queued = min(call - offset, start - offset), lag = call - offset - queued
//
// The call takes S in the calendar: its measured length, less the generator's stops during it. A message is then as far behind the ideal
// one as its lag, so slots and time freed by its completion are free earlier by the lag (release). m is the driver's once the library has
// it. The caller has the connection, and gives it back.
func (s *sender) transmit(m *broker.Message, callNs, waitedNs int64) int64 {
	g, seq, offsetNs := s.g, m.Sequence, m.OffsetNs
	shared := s.connection.guarded && !g.closed
	if n := seq - s.first; s.freedNs != nil && n >= s.limit {
		waitedNs = max(waitedNs, s.freedNs[n%s.limit].Load()-offsetNs)
	}
	lateNs := callNs - offsetNs
	queuedNs := waitedNs
	if shared {
		queuedNs = s.connection.calendar.free(max(offsetNs+waitedNs, s.freeNs)) - offsetNs
	}
	queuedNs = min(lateNs, queuedNs)
	i, lagNs := m.Index, lateNs-queuedNs
	m.Topic, m.Name, m.SentNs, m.LagNs = s.topic, s.name, callNs, lagNs
	// Subtle: this comes before the call, because the message may complete before the call returns. Our own records come after the call,
	// because their time must be neither in service nor in block.
	g.stamp(m)
	if s.limit > 0 {
		s.lagNs.Store(lagNs)
	}
	s.called.Store(seq + 1)
	s.connection.inFlight.Add(1)
	timed := !g.closed && !g.facts.Inline // a closed load has no times for which it could be held up
	beganNs := callNs
	if timed { // stamping is ours
		beganNs = g.clock.Now() - g.t0
	}
	s.callNs.Store(beganNs)
	s.out.Send(m, s.done)
	s.callNs.Store(idle)
	endedNs, heldNs := beganNs, int64(0)
	if timed {
		endedNs = g.clock.Now() - g.t0
		heldNs = endedNs - beganNs - g.stopped(beganNs, endedNs)
	}
	if shared {
		startNs := offsetNs + queuedNs
		s.connection.calendar.book(startNs, heldNs)
		s.freeNs = startNs + heldNs
	}
	if s.sends.Enter() {
		s.sends.Sent(i, offsetNs, callNs, lagNs, queuedNs)
		if g.crosses && !g.facts.Acks { // this client will see nothing of the message again
			s.settle(s.sends, seq, endedNs, callNs, lagNs)
		} else {
			s.sends.Leave()
		}
	}
	return heldNs
}

// connection is the state that the producers on one connection share.
type connection struct {
	// guarded: other goroutines than the pacer may send here too, at the same time, and drivers do not have to allow that.
	guarded bool
	mu      sync.Mutex
	// calendar is where its send calls would be without our own lateness. Guarded by mu; where it is not, nothing else may send.
	calendar calendar
	_        [64]byte
	// inFlight counts the messages of all of them.
	inFlight atomic.Int64
	_        [64]byte
}

// try takes the connection if it is not in use. unlock must follow.
func (c *connection) try() bool { return !c.guarded || c.mu.TryLock() }

// take waits until the connection is free. unlock must follow.
func (c *connection) take() {
	if !c.try() {
		c.mu.Lock()
	}
}

func (c *connection) unlock() {
	if c.guarded {
		c.mu.Unlock()
	}
}

func (c *connection) quiet() bool {
	if !c.try() {
		return false
	}
	c.unlock()
	return true
}

// timeouts records roughly when each message of a producer was sent, in memory that does not grow with the number of messages: a producer
// sends in order, so one moment is enough to show that all sequences below a number had been sent by then.
type timeouts struct {
	// moments of the last timeout, the oldest first.
	moments []moment
	// noted and notedNs of the newest moment.
	noted, notedNs int64
	// from is the first sequence that may still have its slot and has not timed out.
	from int64
}

// moment is atNs (ns since T0), when the sequences below called had been handed to the library, the last one with that lag.
type moment struct{ atNs, lagNs, called int64 }

// timeoutStepNs is how exactly a timeout is kept: a slot comes back at most two steps after it.
func (p *Plan) timeoutStepNs() int64 {
	return max(int64(5*time.Millisecond), min(int64(100*time.Millisecond), p.TimeoutNs/50))
}

func (g *Generator) watchTimeouts() {
	for !happened(g.concluded) {
		time.Sleep(time.Duration(g.plan.timeoutStepNs()))
		g.expire()
	}
}

// expire gives back the slots of messages that take longer than the timeout, and reports whether others may time out yet. One goroutine calls it.
func (g *Generator) expire() (pending bool) {
	nowNs := g.clock.Now() - g.t0
	for _, s := range g.senders {
		s.expire(nowNs)
		pending = pending || s.timeouts.from < s.called.Load()
	}
	return pending
}

// --- internal ---

func (s *sender) acquire() bool {
	if s.limit == 0 || s.inFlight.Add(1) <= s.limit {
		return true
	}
	s.inFlight.Add(-1)
	return false
}

// send sends the messages that are due: those that became due while the gate was closed or the connection taken, or all of a closed load. An ideal
// generator would have come to the first of a stretch when its pacer did.
func (s *sender) send() {
	g, all, fresh := s.g, s.g.books.Sequences(s.producer, s.g.plan.Schedule.Messages), true
	for s.next < all {
		taken := false
		s.gate.await(func() bool {
			switch {
			case s.over():
				return true
			case (fresh || s.next >= s.due.Load()) && s.idle():
				fresh = true
				return false
			}
			taken = s.acquire()
			return taken
		})
		// Subtle: the slot is taken before this look. Otherwise a message could leave after stop is set and no slot is taken.
		if s.over() {
			if taken && s.limit > 0 {
				s.inFlight.Add(-1)
			}
			return
		}
		waitedNs := int64(0)
		if fresh {
			waitedNs, fresh = s.waitedNs, false
		}
		m := g.message(s.producer, s.next)
		s.connection.take()
		callNs := g.clock.Now() - g.t0
		if g.closed {
			m.OffsetNs = callNs
		}
		if !s.closed.Load() { // the run may have ended while we waited for the connection
			s.transmit(m, callNs, waitedNs)
		}
		s.connection.unlock()
		s.next++
	}
	s.idle()
}

// idle leaves the next message to the pacer if nothing is due.
func (s *sender) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next < s.due.Load() {
		return false
	}
	s.busy.Store(false)
	return true
}

// over reports whether nothing more may be sent.
func (s *sender) over() bool { return s.closed.Load() || s.g.closed && s.g.stop.Load() }

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

// giveUp releases the messages sent before the moment. The slots come back now to an ideal generator too, less the lag: that it looks only so
// often is how exactly a timeout is kept. Taken for lateness, it would add up over the slots that time out one after another.
func (s *sender) giveUp(m moment, nowNs int64) {
	b, p := s.g.books, s.producer
	for seq := b.NextHeld(p, s.timeouts.from, m.called); seq < m.called; seq = b.NextHeld(p, seq+1, m.called) {
		if b.TimeOut(p, seq) {
			s.release(nowNs, m.atNs, m.lagNs)
		}
	}
	b.Forget(p, m.called)
}
