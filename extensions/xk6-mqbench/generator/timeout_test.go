package generator

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestALostWarmUpMessageKeepsNoWindowShut(t *testing.T) {
	p := closedPlan(100, 10)
	p.Schedule.WarmupMessages, p.Schedule.Messages = 1, 101
	p.DrainNs, p.TimeoutNs = 600*ms, 300*ms
	m := measure(t, p, &stub{deliveries: never(func(i int64) bool { return i == 0 })}, nil)
	if *m.warmup.Lost != 1 || *m.warmup.TimedOut != 1 || *m.window.Received != 100 || *m.window.TimedOut != 0 {
		t.Errorf("warm-up %+v, window %+v; want 1 lost that timed out, and 100 received", m.warmup, m.window)
	}
	if m.totals.WindowStartNs == nil || *m.totals.WindowStartNs < 300*ms {
		t.Errorf("the window opens at %v; want it after the timeout", m.totals.WindowStartNs)
	}
}

func TestAWarmUpWithoutItsAcknowledgementKeepsNoWindowShut(t *testing.T) {
	p := closedPlan(100, 10)
	p.Schedule.WarmupMessages, p.Schedule.Messages = 1, 101
	p.Acks, p.DrainNs, p.TimeoutNs = true, 600*ms, 300*ms
	m := measure(t, p, &stub{acks: true, ack: func(i int64) (time.Duration, bool) { return 0, i > 0 }}, nil)
	if m.warmup.Unknown != 1 || *m.warmup.TimedOut != 0 || *m.window.Acked != 100 {
		t.Errorf("warm-up %+v, window %+v; want 1 unknown that was received in time, and 100 acknowledged", m.warmup, m.window)
	}
}

// Twice as many are lost as fit into inFlight. The timeout is the default, the drain.
func TestLostMessagesOfAClosedLoadGiveBackTheirSlots(t *testing.T) {
	p := closedPlan(1000, 10)
	p.DrainNs, p.TimeoutNs = 300*ms, 300*ms
	lost := every(50, 20)
	m := measure(t, p, &stub{deliveries: never(lost)}, nil)
	if *m.window.Lost != 20 || m.window.NotOffered != 0 || m.window.Failed != 0 || *m.window.Received != 980 || m.state != "complete" {
		t.Errorf("%s: %+v; want 20 lost, all others received", m.state, m.window)
	}
	// The last ones time out after the run is over, or just before.
	if *m.window.TimedOut < 10 || *m.window.TimedOut > 20 {
		t.Errorf("%d timed out; want at least those that were in the way", *m.window.TimedOut)
	}
	if first := m.offenders["lost"]; first.Sequence != 20 || first.IntendedNs != nil {
		t.Errorf("first lost %+v; want message 20, and no time: only the message knew when it was sent", first)
	}
}

func TestAMessageThatCompletesAfterItsTimeoutHasItsTrueTimeAndFreesNoSecondSlot(t *testing.T) {
	p := closedPlan(40, 1)
	p.DrainNs, p.TimeoutNs = 5000*ms, 100*ms
	var f flight
	m := measure(t, p, &stub{
		onSend: f.off,
		receive: func(_ string, i int64) {
			time.Sleep(time.Duration(1500*ms) * time.Duration(max(0, 1-i)))
			f.flying.Add(-1)
		},
	}, nil)
	if *m.window.Received != 40 || *m.window.Lost != 0 || *m.window.TimedOut == 0 || m.window.Late == 0 {
		t.Errorf("%+v; %d timed out; want all received, some of them late", m.window, *m.window.TimedOut)
	}
	if s := m.metrics["service"]; s.Count != 40 || s.Max < 1500*ms {
		t.Errorf("%d services up to %d ms; want 40, the longest 1500 ms", s.Count, s.Max/ms)
	}
	// Message 0 and what had timed out behind it, and one more.
	if most := *m.window.TimedOut + 1; f.highest.Load() > most {
		t.Errorf("%d at a time; want at most %d: each slot comes back once", f.highest.Load(), most)
	}
}

// An ideal generator's message 1 waits for a timeout behind message 0, which is lost, and so do the others in their turn.
func TestWaitingForATimeoutIsTheSystemsTime(t *testing.T) {
	p := testPlan(1000, 100)
	one := int64(1)
	p.InFlight, p.TimeoutNs, p.DrainNs = &one, 500*ms, 10_000*ms
	var m *measured
	for range 3 { // a busy machine may be late by itself
		m = measure(t, p, &stub{deliveries: never(func(i int64) bool { return i == 0 })}, nil)
		if m.metrics["lag"].Sum <= m.metrics["queued"].Sum/4 {
			break
		}
	}
	if *m.window.TimedOut != 1 || *m.window.Lost != 1 || *m.window.Received != 99 || m.window.Failed != 0 {
		t.Errorf("%+v; want 1 timed out, 99 received", m.window)
	}
	r, q, l, s := m.metrics["response"], m.metrics["queued"], m.metrics["lag"], m.metrics["service"]
	if q.Sum < 99*400*ms || l.Sum > q.Sum/4 {
		t.Errorf("queued %d ms, lag %d ms; want about 450 ms for each of 99, and hardly any lag", q.Sum/ms, l.Sum/ms)
	}
	if rest := r.Sum - s.Sum - q.Sum - l.Sum; rest > 0 || rest < -q.Max {
		t.Errorf("response is %d ms more than its parts", rest/ms)
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

// never loses messages.
func never(lost func(i int64) bool) func(i int64) int {
	return func(i int64) int {
		if lost(i) {
			return 0
		}
		return 1
	}
}
