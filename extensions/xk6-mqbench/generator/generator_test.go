package generator

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const ms = int64(time.Millisecond)

func TestWarmUpAndWindowAreCountedApart(t *testing.T) {
	p := testPlan(1000, 400)
	p.Schedule.WarmupNs = 350 * ms
	m := measure(t, complete(p), &stub{}, nil)
	if *m.warmup.Received != 350 || *m.window.Received != 400 || m.metrics["response"].Count != 400 {
		t.Errorf("warm-up %d, window %d, responses %d; want 350, 400, 400",
			*m.warmup.Received, *m.window.Received, m.metrics["response"].Count)
	}
}

// The signature test: a broker that freezes for half a second must show in every message that was due meanwhile.
func TestAFreezeOfTheBrokerIsInTheResponseOfEachMessageDueMeanwhile(t *testing.T) {
	p := testPlan(1000, 3000)
	for _, limit := range []int64{100, 200, 300, 400} {
		p.Limits = append(p.Limits, Limit{"response", limit * ms})
	}
	var frozen nap
	m := measure(t, p, &stub{receive: func(_ string, i int64) {
		if i == 1000 {
			frozen.take(500 * time.Millisecond)
		}
	}}, nil)
	// Messages over x are those due in the first 0.5 s - x of the freeze. What a busy machine adds are stalls of its own, most of
	// it lag, as the generator stands still too; without its lag a message was due by that much later.
	lag := m.lagMs()
	for k, x := range []int64{100, 200, 300, 400} {
		want := frozen.ms() - x
		m.between("messages over the limit", m.over[k], want*80/100, 3000)
		m.between("messages over the limit without lag", m.overWithoutLag[k], (want-lag)*80/100, want*2+300)
		if m.over[k] < m.overWithoutLag[k] {
			t.Errorf("%d over the limit, and %d without lag", m.over[k], m.overWithoutLag[k])
		}
	}
	if q := m.metrics["queued"].Sum; q > m.metrics["response"].Sum/2 {
		t.Errorf("queued is %d of %d although no send blocked", q, m.metrics["response"].Sum)
	}
}

func TestASendThatBlocksIsQueuedTimeOfTheMessagesBehindIt(t *testing.T) {
	p := testPlan(1000, 2000)
	var blocked nap
	m := measure(t, p, &stub{onSend: func(msg *broker.Message) error {
		if msg.Index == 500 {
			blocked.take(500 * time.Millisecond)
		}
		return nil
	}}, nil)
	// 499 messages wait 499, 498, ... ms behind the one that blocks: 125 s in all. Where the sends after it find no core at once, they hold
	// up the next ones, too; what the generator was late by is not queued.
	queued, took := m.metrics["queued"], blocked.ms()
	least := max(0, took-m.lagMs())
	m.between("sum of queued in ms", queued.Sum/ms, least*least/2*80/100, took*took*2)
	m.between("longest queued in ms", queued.Max/ms, least*80/100, took*3)
	// A busy machine adds lag; but nobody takes the blame for the same time twice.
	parts, whole := m.metrics["lag"].Sum+queued.Sum+m.metrics["service"].Sum, m.metrics["response"].Sum
	m.between("lag, queued and service together in ms", parts/ms, whole/ms*99/100, whole/ms*101/100)
	if *m.window.Received != 2000 {
		t.Errorf("received %d; want 2000", *m.window.Received)
	}
}

func TestAFrozenHeartbeatIsLagAndMovesNoIntendedTime(t *testing.T) {
	p := testPlan(1000, 2000)
	p.Limits = append(p.Limits, Limit{"response", 100 * ms})
	var frozen nap
	m := measure(t, p, &stub{}, func(slot func()) {
		began := time.Now()
		for time.Since(began) < 2300*time.Millisecond {
			go slot()
			time.Sleep(10 * time.Millisecond)
			if frozen.ms() == 0 && time.Since(began) > 800*time.Millisecond {
				frozen.take(500 * time.Millisecond)
			}
		}
	})
	if m.window.NotOffered != 0 || *m.window.Received != 2000 || m.totals.Foreign != 0 {
		t.Errorf("window %+v, foreign %d: slots were lost", m.window, m.totals.Foreign)
	}
	// Claims reach 50 ms ahead: the freeze costs what is due in the other 450 ms; 350 of those are over 100 ms.
	late := frozen.ms() - 50
	m.between("over 100 ms", m.over[0], (late-100)*80/100, 2000)
	m.between("over 100 ms without lag", m.overWithoutLag[0], 0, m.over[0]/2)
	m.between("sum of lag in ms", m.metrics["lag"].Sum/ms, late*late/2*80/100, m.metrics["response"].Sum/ms)
}

// nap is a sleep that knows how long it was: on a machine that others use too it is longer than asked for.
type nap struct{ tookNs atomic.Int64 }

func (n *nap) take(d time.Duration) {
	began := time.Now()
	time.Sleep(d)
	n.tookNs.Store(int64(time.Since(began)))
}

// lagMs is how late the generator was at most.
func (m *measured) lagMs() int64 { return m.metrics["lag"].Max / ms }

func (n *nap) ms() int64 { return n.tookNs.Load() / ms }

func TestLostTicksOfK6LoseNoMessage(t *testing.T) {
	m := measure(t, testPlan(2000, 1500), &stub{}, func(slot func()) {
		// 25 of 40 ticks are dropped, as k6 does when no VU is free.
		began := time.Now()
		for n := 0; time.Since(began) < 1800*time.Millisecond; n++ {
			if n%40 < 15 {
				go slot()
			}
			time.Sleep(2 * time.Millisecond)
		}
	})
	if *m.window.Received != 3000 || m.window.NotOffered != 0 {
		t.Errorf("received %d, not offered %d; want 3000, 0", *m.window.Received, m.window.NotOffered)
	}
	// A clock that counts iterations would be a second early by now.
	m.between("mean response in ms", m.metrics["response"].Sum/3000/ms, 0, 300)
}

func TestSlotsThatNobodyClaimsAreMessagesNotOffered(t *testing.T) {
	m := measure(t, testPlan(1000, 2000), &stub{}, func(slot func()) {
		began := time.Now()
		for time.Since(began) < time.Second {
			slot()
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond)
	})
	if m.state != "interrupted" {
		t.Errorf("state %q; want interrupted", m.state)
	}
	// T0 is 100 ms after the first claim, the last claim reaches 50 ms ahead: 1 s of claims are 0.96 s of schedule.
	m.between("not offered", m.window.NotOffered, 500, 1500)
	if m.window.Failed != 0 || *m.window.Lost != 0 {
		t.Errorf("failed %d, lost %d; want none", m.window.Failed, *m.window.Lost)
	}
}

func TestAcknowledgementsFailuresAndReceiptsAreThreeSets(t *testing.T) {
	p := testPlan(1000, 500)
	p.Acks = true
	m := measure(t, p, &stub{acks: true, deliveries: func(i int64) int {
		if i%10 == 0 {
			return 0
		}
		return 1
	}, onSend: func(msg *broker.Message) error {
		if msg.Index%25 == 1 {
			return errors.New("refused")
		}
		return nil
	}}, nil)
	if *m.window.Acked != 480 || m.window.Failed != 20 || *m.window.Lost != 50 || m.metrics["ack"].Count != 480 {
		t.Errorf("acked %d failed %d lost %d acks recorded %d; want 480 20 50 480",
			*m.window.Acked, m.window.Failed, *m.window.Lost, m.metrics["ack"].Count)
	}
}

func TestInFlightIsNeverAboveItsLimitAndOtherProducersAreNotHeldUp(t *testing.T) {
	p := testPlan(2000, 1500)
	limit := int64(10)
	p.InFlight, p.Producers, p.Connections, p.Topics = &limit, 2, 2, []string{"slow", "fast"}
	var flying, highest, meanwhile atomic.Int64
	var freezing atomic.Bool
	var freeze sync.Once
	var frozen time.Duration
	s := &stub{
		onSend: func(msg *broker.Message) error {
			if msg.Name == "slow" {
				highest.Store(max(highest.Load(), flying.Add(1)))
			} else if freezing.Load() {
				meanwhile.Add(1)
			}
			return nil
		},
		receive: func(topic string, i int64) {
			if topic != "slow" {
				return
			}
			if i == 200 {
				freeze.Do(func() {
					began := time.Now()
					freezing.Store(true)
					time.Sleep(400 * time.Millisecond)
					freezing.Store(false)
					frozen = time.Since(began)
				})
			}
			flying.Add(-1)
		},
	}
	m := measure(t, p, s, nil)
	if highest.Load() > limit {
		t.Errorf("%d in flight; the limit is %d", highest.Load(), limit)
	}
	if *m.window.Received != 3000 {
		t.Errorf("received %d; want 3000", *m.window.Received)
	}
	// Of a freeze of d seconds 1000 d messages of the slow producer wait, half of it in the mean; the fast one's do not.
	took := frozen.Milliseconds()
	least := max(0, took-m.lagMs())
	m.between("sum of queued in ms", m.metrics["queued"].Sum/ms, least*least/2*80/100, took*took*2)
	// It sends 1000 a second meanwhile; a tenth is what a machine that is busy with others leaves of them.
	m.between("messages of the fast producer during the freeze", meanwhile.Load(), int64(100*frozen.Seconds()), int64(4000*frozen.Seconds()))
}

func TestMessagesThatTheGateKeptFromLeavingHaveFailed(t *testing.T) {
	p := testPlan(1000, 500)
	limit := int64(5)
	p.InFlight, p.DrainNs = &limit, 200*ms
	m := measure(t, p, &stub{deliveries: func(int64) int { return 0 }}, nil)
	if *m.window.Lost != 5 || m.window.Failed != 495 || m.window.NotOffered != 0 || m.state != "complete" {
		t.Errorf("%s: %+v; want 5 lost, 495 failed", m.state, m.window)
	}
	if m.took > 10*time.Second {
		t.Errorf("the run took %s", m.took)
	}
}

func TestASendThatNeverReturnsEndsTheRunInBoundedTime(t *testing.T) {
	p := testPlan(1000, 500)
	p.DrainNs = 200 * ms
	never := make(chan struct{})
	defer close(never)
	m := measure(t, p, &stub{onSend: func(msg *broker.Message) error {
		if msg.Index == 100 {
			<-never
		}
		return nil
	}}, nil)
	// Not offered is what nobody claimed: nothing, unless the heartbeat found no core for it.
	if *m.window.Received != 100 || m.window.Failed == 0 || m.window.Failed+m.window.NotOffered != 400 {
		t.Errorf("%+v; want 100 received, 400 failed", m.window)
	}
	if m.took > 10*time.Second {
		t.Errorf("the run took %s", m.took)
	}
}

func TestAnInterruptedRunKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := measureContext(t, ctx, testPlan(1000, 60_000), (&stub{receive: func(_ string, i int64) {
		if i == 300 {
			cancel()
		}
	}}).driver, nil)
	if m.state != "interrupted" || m.window.NotOffered == 0 || *m.window.Lost != 0 {
		t.Errorf("%s: %+v", m.state, m.window)
	}
	m.between("received", *m.window.Received, 300, 10_000)
}

func TestAnInterruptedRunWaitsForTheMessageThatIsJustLeavingAndKnowsWhatItHeldUp(t *testing.T) {
	const last = 100
	ctx, cancel := context.WithCancel(context.Background())
	var generator *Generator
	onNew = func(g *Generator) { generator = g }
	defer func() { onNew = nil }()
	m := measureContext(t, ctx, testPlan(1000, 60_000), (&stub{
		onSend: func(m *broker.Message) error {
			if m.Index == last {
				cancel()
				for !generator.stop.Load() {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(50 * time.Millisecond)
			}
			return nil
		},
		receive: func(_ string, i int64) {
			if i == last {
				time.Sleep(50 * time.Millisecond)
			}
		},
	}).driver, nil)
	m.between("received", *m.window.Received, last+1, last+1)
	// A generator that a busy machine stopped in the call has held them up itself.
	if m.state != "interrupted" || *m.window.Lost != 0 || m.window.Failed == 0 && m.stoppedNs == 0 || *m.window.Received+m.window.Failed != m.window.Sent {
		t.Errorf("%s: %+v; want all that left to be received, and what the call held up to have failed", m.state, m.window)
	}
}

func TestAnInterruptedRunWhoseSystemIsBehindWaitsForWhatIsInFlight(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p, limit := testPlan(5000, 60_000), int64(10)
	p.InFlight = &limit
	m := measureContext(t, ctx, p, (&stub{receive: func(_ string, i int64) {
		if i == 100 {
			cancel()
		}
		time.Sleep(5 * time.Millisecond) // 200 a second at best
	}}).driver, nil)
	if m.state != "interrupted" || *m.window.Lost != 0 || m.window.Failed == 0 || *m.window.Received+m.window.Failed != m.window.Sent {
		t.Errorf("%s: %+v; want those that never left to have failed, and none to be lost", m.state, m.window)
	}
}

func TestEveryMessageOfManyProducersIsSentOnceAndInOrder(t *testing.T) {
	p := testPlan(5000, 600)
	p.Producers, p.Connections, p.Topics = 7, 3, []string{"a", "b", "c"}
	p.Schedule.WarmupNs = 123 * ms
	m := measure(t, complete(p), &stub{}, nil)
	if *m.warmup.Received != p.Schedule.WarmupMessages || *m.window.Received != 3000 || m.window.Duplicated != 0 {
		t.Errorf("warm-up %+v, window %+v", m.warmup, m.window)
	}
}
