package generator

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// jumping is a driver whose calls take a set time: T0 moves back during them.
type jumping struct {
	g     *Generator
	takes func(i int64) (ns int64, stopped bool)
}

func (j *jumping) Close() error { return nil }
func (j *jumping) Send(m *broker.Message, _ broker.Done) {
	ns, stopped := j.takes(m.Index)
	j.g.t0 -= ns
	if now := j.g.clock.Now(); stopped {
		j.g.stops.woke(now-ns, now)
	}
}

// sharedConnection has two producers of 1000/s together, on one connection.
func sharedConnection(t *testing.T, takes func(i int64) (int64, bool)) *Generator {
	t.Helper()
	p := testPlan(1000, 2000)
	p.Producers = 2
	g := generate(t, p, &stub{})
	g.date(g.clock.Now(), time.Now())
	g.makeSenders()
	for _, s := range g.senders {
		s.out = &jumping{g, takes}
	}
	return g
}

// send has message i sent at callNs, and returns the queued part and the lag of its lateness.
func send(g *Generator, i, callNs int64) (queuedNs, lagNs int64) {
	m := g.message(i%2, i/2)
	s := g.byProducer[i%2]
	s.connection.take()
	defer s.connection.unlock()
	g.t0 = g.clock.Now() - callNs
	s.transmit(m, callNs, 0)
	return callNs - m.OffsetNs - m.LagNs, m.LagNs
}

// behind is 400 messages after the first one, one producer's before the other's, 1 us apart from the given time on.
func behind(g *Generator, fromNs int64) (queuedNs, lagNs int64) {
	for _, first := range []int64{2, 1} {
		for i := first; i < 400; i += 2 {
			queued, lag := send(g, i, fromNs+i*1000)
			queuedNs += queued
			lagNs += lag
		}
	}
	return queuedNs, lagNs
}

// An allocation between the stamp of a send call and the call would be in service: 128 KiB take 20 us and more.
func TestNothingIsAllocatedBetweenTheStampAndTheCall(t *testing.T) {
	var before, within runtime.MemStats
	g := sharedConnection(t, func(int64) (int64, bool) {
		runtime.ReadMemStats(&within)
		return 0, false
	})
	for i := range int64(4) {
		m := g.message(i%2, i/2)
		s := g.byProducer[i%2]
		s.connection.take()
		runtime.ReadMemStats(&before)
		s.transmit(m, m.OffsetNs, 0)
		s.connection.unlock()
		if n := within.TotalAlloc - before.TotalAlloc; n > 4096 {
			t.Errorf("message %d: %d bytes", i, n)
		}
	}
}

func TestWhoIsBlamedOnASharedConnection(t *testing.T) {
	for _, c := range []struct {
		words           string
		takesNs, sentNs int64
		stopped, system bool
	}{
		{"the system held the first call", 400 * ms, 0, false, true},
		{"the generator was stopped in the first call", 400 * ms, 0, true, false},
		{"all are 20 s late", 0, 20_000 * ms, false, false},
		{"all are 20 s late, and the system held the first call", 400 * ms, 20_000 * ms, false, false},
	} {
		g := sharedConnection(t, func(i int64) (int64, bool) {
			if i == 0 {
				return c.takesNs, c.stopped
			}
			return 0, false
		})
		send(g, 0, c.sentNs)
		if queued, lag := behind(g, c.sentNs+c.takesNs); c.system && lag > queued/10 || !c.system && queued > lag/10 {
			t.Errorf("%s: queued %d ms, lag %d ms", c.words, queued/ms, lag/ms)
		}
	}
}

// A message that opens the gate was late itself, and would have been back earlier by that.
func TestWhenAnIdealGateOpens(t *testing.T) {
	g := sharedConnection(t, nil)
	g.stops.woke(g.t0+5000*ms, g.t0+5400*ms)
	s := g.senders[0]
	s.limit, s.freedNs = 1, make([]atomic.Int64, 1)
	for _, c := range []struct {
		words                   string
		atNs, sentNs, lagNs, is int64
	}{
		{"sent in time", 700 * ms, 100 * ms, 0, 700 * ms},
		{"sent late", 700 * ms, 650 * ms, 500 * ms, 200 * ms},
		{"in flight when the generator was stopped", 5410 * ms, 4990 * ms, 0, 5010 * ms},
		{"the system had it for longer than that", 6000 * ms, 4990 * ms, 0, 6000 * ms},
		{"both", 5410 * ms, 4990 * ms, 1000 * ms, 4010 * ms},
	} {
		s.release(c.atNs, c.sentNs, c.lagNs)
		if got := s.freedNs[0].Load(); got != c.is {
			t.Errorf("%s: it opens at %d ms; want %d", c.words, got/ms, c.is/ms)
		}
	}
}

// Slots that came back at 1 s and at 2 s are the next two messages', even if both find them when the generator runs at 3 s.
func TestAMessageWaitsForItsOwnSlotAndNotForTheFirst(t *testing.T) {
	g := sharedConnection(t, func(int64) (int64, bool) { return 0, false })
	s := g.senders[0]
	s.limit, s.freedNs = 2, make([]atomic.Int64, 2)
	index := func(seq int64) int64 { return s.producer + seq*int64(g.plan.Producers) }
	for seq := range int64(2) {
		send(g, index(seq), g.schedule.Offset(index(seq)))
	}
	for n := range int64(2) {
		s.release((n+1)*1000*ms, 0, 0)
	}
	for seq := int64(2); seq < 4; seq++ {
		offset := g.schedule.Offset(index(seq))
		queued, lag := send(g, index(seq), 3000*ms)
		if want := (seq-1)*1000*ms - offset; queued != want || lag != 3000*ms-offset-want {
			t.Errorf("message %d: queued %d ms, lag %d ms; want %d queued", seq, queued/ms, lag/ms, want/ms)
		}
	}
}

// The watch for timeouts wakes only so often. Its delay must not add up to lateness of the generator over the slots that time out one after
// another, which would taint the seconds of a stall.
func TestASlotThatTimesOutComesBackWhenTheWatchForTimeoutsLooks(t *testing.T) {
	g := sharedConnection(t, nil)
	g.plan.TimeoutNs = 50 * ms
	s := g.senders[0]
	s.limit, s.freedNs = 1, make([]atomic.Int64, 1)
	for k, sentNs := range []int64{100 * ms, 160 * ms} {
		s.called.Add(1)
		s.lagNs.Store(2 * ms)
		s.expire(sentNs)
		s.expire(sentNs + 49*ms)
		early := s.releases.Load()
		s.expire(sentNs + 58*ms)
		if n, got, want := s.releases.Load(), s.freedNs[0].Load(), sentNs+56*ms; early != int64(k) || n != early+1 || got != want {
			t.Errorf("%d slots are back before the timeout, %d after it, the last one at %d ms; want %d, %d, %d", early, n, got/ms, k, k+1, want/ms)
		}
	}
}

// The checksum of a MiB takes 100 us. After the stamp of the send call that would be in service.
func TestABodyIsSummedBeforeItsMessageIsStamped(t *testing.T) {
	g := sharedConnection(t, nil)
	g.plan.Message.Checksum = true
	for _, change := range []byte{0, 1} {
		m := g.message(0, 0)
		m.Payload[len(m.Payload)-envelope.ChecksumBytes-1] ^= change
		g.stamp(m)
		if got := envelope.Intact(m.Payload); got != (change == 0) {
			t.Errorf("a body that changes by %d before the stamp: intact is %v", change, got)
		}
	}
}

func TestACalendarInOrderIsLindleysRecursion(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var c calendar
	at, waitNs, busyNs := int64(0), int64(0), int64(0)
	for range 20_000 {
		gap := random.Int64N(1000)
		at += gap
		waitNs = max(0, waitNs+busyNs-gap)
		if got := c.free(at) - at; got != waitNs {
			t.Fatalf("at %d it waits %d; want %d", at, got, waitNs)
		}
		busyNs = random.Int64N(900)
		c.book(at+waitNs, busyNs)
	}
}

func TestACalendarOutOfOrder(t *testing.T) {
	type send struct{ at, ns, want int64 }
	for _, c := range []struct {
		words string
		sends []send
	}{
		{"nobody waits for what is due later", []send{{0, 1000 * ms, 0}, {5000 * ms, 10, 5000 * ms}, {2000 * ms, 10, 2000 * ms}}},
		{"those behind a block wait for its end, each for those that were sent meanwhile", []send{
			{0, 300 * ms, 0},
			{10 * ms, 1 * ms, 300 * ms},
			{20 * ms, 1 * ms, 301 * ms},
			{15 * ms, 1 * ms, 302 * ms},
		}},
		{"one that was overtaken by the next stretch waits for its own", []send{
			{0, 300 * ms, 0},
			{400 * ms, 1 * ms, 400 * ms},
			{10 * ms, 2 * ms, 300 * ms},
			{20 * ms, 2 * ms, 302 * ms},
			{400 * ms, 1 * ms, 401 * ms},
		}},
		{"and for the newest one when it reaches that", []send{
			{0, 300 * ms, 0},
			{301 * ms, 5 * ms, 301 * ms},
			{10 * ms, 2 * ms, 300 * ms},
			{20 * ms, 2 * ms, 306 * ms},
		}},
	} {
		var cal calendar
		for k, s := range c.sends {
			got := cal.free(s.at)
			if got != s.want {
				t.Errorf("%s: send %d begins at %d; want %d", c.words, k, got, s.want)
			}
			cal.book(got, s.ns)
		}
	}
}

func TestALongBlockIsRememberedWhileShortOnesComeAndGo(t *testing.T) {
	var c calendar
	c.book(1*ms, 300*ms)
	at := 301 * ms
	for range 200 {
		at += 1 * ms
		c.book(at, 300_000)
	}
	if got := c.free(2 * ms); got != 301*ms {
		t.Errorf("200 short blocks later a message of the long one begins at %d", got)
	}
	for range 1000 {
		at += 2 * 300 * ms
		c.book(at, 200*ms)
	}
	if got := c.free(2 * ms); got != 2*ms {
		t.Errorf("ten minutes later it begins at %d", got)
	}
}
