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

func TestAClosedLoadSendsAllMessagesAndHasNeitherResponseNorLag(t *testing.T) {
	p := closedPlan(20_000, 50)
	p.Producers, p.Connections, p.DrainNs = 3, 2, 600_000*ms
	m := measure(t, p, &stub{}, nil)
	if m.state != "complete" || *m.window.Received != 20_000 || m.totals.Foreign != 0 || *m.window.Behind != 0 {
		t.Errorf("%s: %+v, foreign %d; want 20 000 received", m.state, m.window, m.totals.Foreign)
	}
	if m.took > time.Duration(p.DrainNs)/2 {
		t.Errorf("the run took %s although all had settled", m.took)
	}
	tt := m.totals
	if *tt.WindowStartNs > *tt.FirstSendNs || *tt.FirstSendNs > *tt.FirstReceiveNs || *tt.FirstReceiveNs > *tt.LastReceiveNs || *tt.LastReceiveNs > tt.EndNs {
		t.Errorf("window from %d, sends from %d, receipts from %d to %d, end %d: not in this order",
			*tt.WindowStartNs, *tt.FirstSendNs, *tt.FirstReceiveNs, *tt.LastReceiveNs, tt.EndNs)
	}
}

func TestTheWarmUpOfAClosedLoadSettlesBeforeItsWindowOpens(t *testing.T) {
	p := closedPlan(3000, 20)
	p.Schedule.WarmupMessages, p.Schedule.Messages, p.Producers = 1000, 4000, 2
	var flying, early atomic.Int64
	var opened sync.Once
	m := measure(t, p, &stub{
		onSend: func(msg *broker.Message) error {
			if msg.Index >= 1000 {
				opened.Do(func() { early.Store(flying.Load()) })
			}
			flying.Add(1)
			return nil
		},
		receive: func(string, int64) { flying.Add(-1) },
	}, nil)
	if *m.warmup.Received != 1000 || *m.window.Received != 3000 || m.metrics["service"].Count != 3000 || m.warmupSeconds != 0 {
		t.Errorf("warm-up %d, window %d, services %d, seconds of the warm-up %d; want 1000 3000 3000 0",
			*m.warmup.Received, *m.window.Received, m.metrics["service"].Count, m.warmupSeconds)
	}
	if early.Load() != 0 || *m.totals.WindowStartNs == 0 {
		t.Errorf("%d messages of the warm-up are in flight as the window opens", early.Load())
	}
}

func TestAClosedLoadNeverHasMoreInFlightThanItsLimit(t *testing.T) {
	p := closedPlan(2000, 7)
	var f flight
	m := measure(t, p, &stub{onSend: f.off, receive: func(string, int64) { f.flying.Add(-1) }}, nil)
	if highest := f.highest.Load(); highest > 7 || *m.window.Received != 2000 {
		t.Errorf("%d in flight, %d received; want at most 7, and 2000", highest, *m.window.Received)
	}
}

func TestEveryPatternHasAClosedLoad(t *testing.T) {
	for name, shape := range map[string]func(*Plan, *stub){
		roundTrip: func(*Plan, *stub) {},
		requestReply: func(p *Plan, _ *stub) {
			p.ReplyTopics, p.Consumers, p.ConsumerConnections = []string{"reply"}, 2, 2
		},
		fanOut:    func(p *Plan, _ *stub) { p.Subscriptions, p.ConsumerConnections = 3, 2 },
		workQueue: func(p *Plan, _ *stub) { p.Consumers, p.ConsumerConnections = 3, 2 },
		publish:   func(p *Plan, s *stub) { p.Acks, s.acks = true, true },
	} {
		p, s := closedPlan(3000, 20), &stub{}
		p.Pattern, p.Schedule.WarmupMessages, p.Producers = name, 500, 2
		shape(p, s)
		m := measure(t, p, s, nil)
		want := 2500 * p.subscribers()
		if m.window.Sent != 2500 || m.warmup.Sent != 500 || m.metrics["service"].Count != want || m.totals.Foreign != 0 {
			t.Errorf("%s: %+v, services %d, foreign %d; want 2500 sent, %d services", name, m.window, m.metrics["service"].Count, m.totals.Foreign, want)
		}
	}
}

func TestAClosedLoadWaitsForAcknowledgementsToo(t *testing.T) {
	p := closedPlan(300, 300)
	p.Acks = true
	m := measure(t, p, &stub{acks: true, ack: func(int64) (time.Duration, bool) { return 300 * time.Millisecond, true }}, nil)
	if *m.window.Acked != 300 || m.window.Unknown != 0 || m.metrics["ack"].Min < 300*ms {
		t.Errorf("%+v, shortest ack %d ms; want 300 acknowledged, counted from the send call", m.window, m.metrics["ack"].Min/ms)
	}
}

// The broker is gone: what is in flight will not come back, and nobody waits for it.
func TestARunWithoutABrokerEndsWithoutItsDrain(t *testing.T) {
	for _, p := range []*Plan{testPlan(1000, 100), closedPlan(100, 10)} {
		p.DrainNs, p.TimeoutNs = 600_000*ms, 600_000*ms
		h := &hub{copies: func(i int64) int {
			if i >= 95 {
				return 0
			}
			return 1
		}}
		c := openClients(t, of(1, p), h)
		c.start(0)
		c.eventually("it is quiet", c.quiet)
		c.generators[0].CloseBooks()
		c.finish()
		if m := c.close()[0]; m.state != "complete" || *m.window.Received != 95 || *m.window.Lost != 5 || m.window.Failed+m.window.NotOffered != 0 {
			t.Errorf("%s: %s, %+v; want 95 received, 5 lost", p.Schedule.Kind, m.state, m.window)
		}
	}
}

func TestAClosedLoadThatTakesTooLongIsCutAndSaysSo(t *testing.T) {
	p := closedPlan(1_000_000, 1)
	p.Schedule.DurationNs = 400 * ms
	m := measure(t, p, &stub{receive: func(string, int64) { time.Sleep(time.Millisecond) }}, nil)
	if m.window.NotOffered == 0 || *m.window.Lost != 0 || m.window.Failed != 0 || *m.window.Received != m.window.Sent {
		t.Errorf("%+v; want what was sent received, and the rest not offered", m.window)
	}
	if m.took > 5*time.Second {
		t.Errorf("the run took %s; want 0.4 s", m.took)
	}
}

func TestARefusedMessageOfAClosedLoadMakesRoomForTheNext(t *testing.T) {
	m := measure(t, closedPlan(1000, 3), &stub{onSend: func(msg *broker.Message) error {
		if msg.Index%10 == 4 {
			return errors.New("refused")
		}
		return nil
	}}, nil)
	if m.window.Failed != 100 || *m.window.Received != 900 || m.window.NotOffered != 0 {
		t.Errorf("%+v; want 100 failed, 900 received", m.window)
	}
	if first := m.offenders["failed"]; first.Sequence != 4 {
		t.Errorf("first failed is %+v; want message 4", first)
	}
}

func TestASendOfAClosedLoadThatHangsHoldsUpItsConnectionOnly(t *testing.T) {
	p := closedPlan(1000, 10)
	p.Producers, p.Connections, p.DrainNs = 2, 2, 300*ms
	never := make(chan struct{})
	defer close(never)
	m := measure(t, p, &stub{onSend: func(msg *broker.Message) error {
		if msg.Index == 100 {
			<-never
		}
		return nil
	}}, nil)
	// Producer 0 got 50 messages through, its 51st hangs; producer 1 sent all of its 500.
	if *m.window.Received != 550 || m.window.Failed != 1 || m.window.NotOffered != 449 {
		t.Errorf("%+v; want 550 received, 1 failed, 449 not offered", m.window)
	}
}

func TestFaultsOfAClosedLoadAreCountedExactly(t *testing.T) {
	p := closedPlan(20_000, 1000)
	p.Message.Checksum, p.DrainNs = true, 300*ms
	lost, repeated, damaged := every(211, 7), every(307, 9), every(503, 11)
	m := measure(t, p, &stub{
		deliveries: func(i int64) int {
			switch {
			case lost(i):
				return 0
			case repeated(i):
				return 2
			}
			return 1
		},
		alter: func(i int64, payload []byte) {
			if damaged(i) {
				payload[24+i%8] ^= 1 // the time of its send call
			}
		},
	}, nil)
	wantLost := count(0, 20_000, func(i int64) bool { return lost(i) || damaged(i) })
	wantRepeated := count(0, 20_000, func(i int64) bool { return repeated(i) && !lost(i) && !damaged(i) })
	wantDamaged := count(0, 20_000, func(i int64) bool { return damaged(i) && !lost(i) }) +
		count(0, 20_000, func(i int64) bool { return damaged(i) && repeated(i) && !lost(i) })
	if *m.window.Lost != wantLost || m.window.Duplicated != wantRepeated || *m.window.Corrupted != wantDamaged {
		t.Errorf("lost %d duplicated %d corrupted %d; want %d %d %d",
			*m.window.Lost, m.window.Duplicated, *m.window.Corrupted, wantLost, wantRepeated, wantDamaged)
	}
}

func TestAnInterruptedClosedLoadKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := closedPlan(1_000_000, 1)
	m := measureContext(t, ctx, p, (&stub{receive: func(_ string, i int64) {
		if i == 100 {
			cancel()
		}
	}}).driver, nil)
	if m.state != "interrupted" || *m.window.Received == 0 || m.window.NotOffered == 0 || *m.window.Lost != 0 {
		t.Errorf("%s: %+v", m.state, m.window)
	}
}
