package generator

import (
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// sender sends the messages of one producer, in order. The pacer sends for it while its inFlight gate is open and its connection free.
// Otherwise its own goroutine sends what has become due, so that other producers are not held up. In closed loads that goroutine
// sends everything (closed.go).
type sender struct {
	g        *Generator
	producer int
	topic    int
	out      broker.Producer
	// done is g.done, bound once: making a method value for each call would allocate.
	done broker.Done
	// sends and acks are the shards for its messages.
	sends, acks *recorder.Shard
	// limit of messages in flight; 0: none.
	limit      int64
	inFlight   atomic.Int64
	connection *connection
	// callNs is when the current send call began, ns since T0, or idle.
	callNs atomic.Int64
	// releasedNs is when a message last left flight, ns since T0.
	releasedNs atomic.Int64
	// called counts send calls: sequences below it were handed to the library.
	called atomic.Int64

	// busy: the goroutine owns the producer's next message.
	busy atomic.Bool
	mu   sync.Mutex
	wake *sync.Cond
	// next is the sequence that the goroutine sends next, due the first one that it must not send, waitedNs the pacer's own wait for the
	// first of a stretch. Guarded by mu.
	next, due int64
	waitedNs  int64
	running   bool
	closed    bool

	gate gate
}

func newSender(g *Generator, producer int, on *connection) *sender {
	s := &sender{
		g: g, producer: producer, topic: producer % len(g.plan.Topics), done: g.done, connection: on,
		sends: g.sends(producer), acks: g.acks(producer),
	}
	if g.plan.InFlight != nil {
		s.limit = *g.plan.InFlight
	}
	s.callNs.Store(idle)
	s.wake = sync.NewCond(&s.mu)
	s.gate.wake = make(chan struct{}, 1)
	return s
}

// admit reports whether the pacer may send message seq itself; if so, the pacer has the connection. If not, the sender's goroutine
// sends it. waitedNs as in transmit.
func (s *sender) admit(seq, waitedNs int64) bool {
	if s.limit == 0 && !s.connection.guarded {
		return true
	}
	if !s.busy.Load() && s.connection.try() {
		if s.limit == 0 || s.acquire() {
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
			go s.catchUp()
		}
	}
	s.due = seq + 1
	s.wake.Broadcast()
	return false
}

// release takes one message out of flight at the given time, ns since T0.
func (s *sender) release(atNs int64) {
	s.connection.inFlight.Add(-1)
	if s.limit == 0 {
		return
	}
	s.releasedNs.Store(atNs)
	s.inFlight.Add(-1)
	s.gate.opened()
	if s.busy.Load() {
		s.mu.Lock()
		s.wake.Broadcast()
		s.mu.Unlock()
	}
}

// handedOver is how many sequences have become due: sent, or waiting at the gate.
func (s *sender) handedOver() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy.Load() {
		return s.due
	}
	return s.called.Load()
}

// idle reports whether nothing waits to be sent and no send call is under way.
func (s *sender) idle() bool { return !s.busy.Load() && s.connection.quiet() }

func (s *sender) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake.Broadcast()
}

// transmit stamps message m, hands it to the library, and returns how long the system held the call. waitedNs is how late an ideal
// generator, whose own work takes no time, would have been because of what the system did to earlier messages. That much of the
// lateness is queued; the rest is lag. m belongs to the driver once the library has it. The caller has the connection, and releases
// it.
func (s *sender) transmit(m *broker.Message, offsetNs, callNs, waitedNs int64) int64 {
	g := s.g
	lateNs := callNs - offsetNs
	queuedNs := min(lateNs, waitedNs)
	i, lagNs := m.Index, lateNs-queuedNs
	m.Topic, m.Name = s.topic, g.plan.Topics[s.topic]
	m.SentNs, m.LagNs = callNs, lagNs
	seq := i / int64(g.plan.Producers)
	// Subtle: all of this comes before the call, because the message may complete before the call returns. Our own records come after the
	// call, so that their time is neither in service nor in block.
	if g.flight != nil {
		value := lagNs
		if g.closed {
			value = callNs
		}
		g.flight.Depart(i, value)
	}
	g.stamp(m, s.producer, seq, offsetNs)
	s.called.Store(seq + 1)
	s.connection.inFlight.Add(1)
	beganNs := callNs
	if !g.closed {
		beganNs = g.clock.Now() - g.t0
	}
	s.callNs.Store(beganNs)
	s.out.Send(m, s.done)
	s.callNs.Store(idle)
	endedNs := beganNs
	if !g.closed { // a closed load has no times that it could miss
		endedNs = g.clock.Now() - g.t0
		s.connection.freedNs = endedNs
	}
	released := false
	if s.sends.Enter() {
		s.sends.Sent(i, offsetNs, callNs, lagNs, queuedNs)
		// Nobody on this client will hear of the message again.
		if released = g.crosses && !g.facts.Acks && g.books.Settle(i); released {
			s.sends.Settled()
		}
		s.sends.Leave()
	}
	if released {
		s.release(endedNs)
	}
	if g.facts.Inline {
		return 0
	}
	return endedNs - beganNs
}

// --- internal ---

func (s *sender) acquire() bool {
	if s.inFlight.Add(1) <= s.limit {
		return true
	}
	s.inFlight.Add(-1)
	return false
}

// over reports whether the run ended while we waited for the connection.
func (s *sender) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// catchUp sends what became due while the gate was closed or the connection taken. It computes the wait of an ideal generator as the
// pacer does; that one could not have sent before the gate opened and the connection was free, either.
func (s *sender) catchUp() {
	g := s.g
	var wait wait
	fresh := true
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for s.next == s.due && !s.closed {
			s.busy.Store(false)
			fresh = true
			s.wake.Wait()
		}
		gated := false
		for !s.closed && s.limit > 0 && !s.acquire() {
			gated = true
			s.wake.Wait()
		}
		if s.closed {
			return
		}
		seq := s.next
		i := seq*int64(g.plan.Producers) + int64(s.producer)
		offsetNs := g.schedule.Offset(i)
		if fresh {
			wait.reset(offsetNs, s.waitedNs)
			fresh = false
		} else {
			wait.until(offsetNs)
		}
		s.mu.Unlock()
		m := g.message(i)
		taken := s.connection.take()
		callNs := g.clock.Now() - g.t0
		// Counted from the release: the time that this goroutine took to wake up is the generator's own.
		if gated {
			wait.atLeast(min(callNs, s.releasedNs.Load()) - offsetNs)
		}
		if taken {
			wait.atLeast(min(callNs, s.connection.freedNs) - offsetNs)
		}
		if s.over() {
			s.connection.unlock()
			s.mu.Lock()
			return
		}
		wait.add(s.transmit(m, offsetNs, callNs, wait.ns))
		s.connection.unlock()
		s.mu.Lock()
		s.next = seq + 1
	}
}
