package generator

import (
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// sender sends the messages of one producer, in order. While its inFlight gate is open the pacer sends for it; when the
// gate is closed, its own goroutine sends what has become due meanwhile, so that other producers are not held up.
type sender struct {
	g        *Generator
	producer int
	topic    int
	out      broker.Producer
	// done is g.done, bound once: a method value made per call is an allocation per message.
	done broker.Done
	// limit of messages in flight; 0: none.
	limit    int64
	inFlight atomic.Int64
	// connection counts the messages in flight of all producers on this one's connection.
	connection *atomic.Int64
	// called counts send calls: sequences below it have been handed to the library.
	called atomic.Int64

	// busy: the goroutine owns the producer's next message.
	busy atomic.Bool
	mu   sync.Mutex
	wake *sync.Cond
	// next is the sequence that the goroutine sends next, due the first one it must leave alone, waitsNs since when
	// the first of a stretch waits. Guarded by mu.
	next, due int64
	waitsNs   int64
	running   bool
	closed    bool
}

func newSender(g *Generator, producer int, out broker.Producer, connection *atomic.Int64) *sender {
	s := &sender{g: g, producer: producer, topic: producer % len(g.plan.Topics), out: out, done: g.done, connection: connection}
	if g.plan.InFlight != nil {
		s.limit = *g.plan.InFlight
	}
	s.wake = sync.NewCond(&s.mu)
	return s
}

// admit reports whether the pacer may send message seq itself. If not, the sender's goroutine does.
func (s *sender) admit(seq, nowNs int64) bool {
	if s.limit == 0 || (!s.busy.Load() && s.acquire()) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy.Load() {
		s.busy.Store(true)
		s.next, s.waitsNs = seq, nowNs
		if !s.running {
			s.running = true
			go s.catchUp()
		}
	}
	s.due = seq + 1
	s.wake.Broadcast()
	return false
}

// release takes one message out of flight.
func (s *sender) release() {
	s.connection.Add(-1)
	if s.limit == 0 {
		return
	}
	s.inFlight.Add(-1)
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

func (s *sender) idle() bool { return !s.busy.Load() }

func (s *sender) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake.Broadcast()
}

// transmit stamps message m and hands it to the library, and returns how long that blocked. blockNs is the time that
// earlier messages of the same goroutine blocked since it last was on time: the part of the lateness that the
// system caused.
func (s *sender) transmit(m *broker.Message, offsetNs, callNs, blockNs int64) int64 {
	g := s.g
	lateNs := callNs - offsetNs
	queuedNs := min(lateNs, blockNs)
	m.Topic, m.Name = s.topic, g.plan.Topics[s.topic]
	m.SentNs, m.LagNs = callNs, lateNs-queuedNs
	g.flight.depart(m.Index, m.LagNs)
	seq := m.Index / int64(g.plan.Producers)
	g.stamp(m, s.producer, seq, offsetNs)
	if !g.sends.Enter() {
		return 0
	}
	g.sends.Sent(offsetNs, callNs, m.LagNs, queuedNs)
	// Subtle: counted before the call, which may complete the message before it returns.
	s.called.Store(seq + 1)
	if s.connection.Add(1) > 1 {
		g.books.behind(m.Index)
	}
	g.sends.Leave()
	s.out.Send(m, s.done)
	return g.clock.Now() - g.t0 - callNs
}

// --- internal ---

func (s *sender) acquire() bool {
	if s.inFlight.Add(1) <= s.limit {
		return true
	}
	s.inFlight.Add(-1)
	return false
}

// catchUp sends what became due while the gate was closed.
func (s *sender) catchUp() {
	g := s.g
	var blockNs int64
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for s.next == s.due && !s.closed {
			s.busy.Store(false)
			blockNs = 0
			s.wake.Wait()
		}
		fromNs := s.waitsNs
		for !s.closed && !s.acquire() {
			s.wake.Wait()
		}
		if s.closed {
			return
		}
		seq := s.next
		s.mu.Unlock()
		i := seq*int64(g.plan.Producers) + int64(s.producer)
		m := g.message(i)
		callNs := g.clock.Now() - g.t0
		blockNs += callNs - fromNs
		blockNs += s.transmit(m, g.schedule.Offset(i), callNs, blockNs)
		s.mu.Lock()
		s.next = seq + 1
		s.waitsNs = g.clock.Now() - g.t0
	}
}
