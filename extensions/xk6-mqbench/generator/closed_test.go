package generator

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestAClosedLoadSendsAllMessagesAndHasNeitherResponseNorLag(t *testing.T) {
	p := closedPlan(20_000, 50)
	p.Producers, p.Connections, p.DrainNs = 3, 2, 600_000*ms
	m := measure(t, p, &stub{}, nil)
	m.has("state complete received 20000 foreign 0 behind 0")
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
	var flying flight
	early := int64(-1)
	m := measure(t, p, &stub{
		onSend: func(msg *broker.Message) error {
			if now := flying.add(1); msg.Index >= 1000 && early < 0 { // one connection: no two sends at a time
				early = now - 1
			}
			return nil
		},
		receive: func(string, int64) { flying.add(-1) },
	}, nil)
	m.has("warmup.received 1000 received 3000 #service 3000")
	if early != 0 || *m.totals.WindowStartNs == 0 || m.warmupSeconds != 0 {
		t.Errorf("%d messages of the warm-up are in flight as the window opens, and %d of its seconds are written", early, m.warmupSeconds)
	}
}

func TestEveryPatternHasAClosedLoad(t *testing.T) {
	for name, shape := range map[string]func(*Plan){
		roundTrip: func(*Plan) {},
		requestReply: func(p *Plan) {
			p.ReplyTopics, p.Consumers, p.ConsumerConnections = []string{"reply"}, 2, 2
		},
		fanOut:    func(p *Plan) { p.Subscriptions, p.ConsumerConnections = 3, 2 },
		workQueue: func(p *Plan) { p.Consumers, p.ConsumerConnections = 3, 2 },
		publish:   func(p *Plan) { p.Acks = true },
	} {
		p := closedPlan(3000, 20)
		p.Pattern, p.Schedule.WarmupMessages, p.Producers = name, 500, 2
		shape(p)
		measure(t, p, &stub{acks: p.Acks}, nil).has("sent 2500 warmup.sent 500 #service %d foreign 0", 2500*p.subscribers())
	}
}

func TestAClosedLoadWaitsForAcknowledgementsToo(t *testing.T) {
	p := closedPlan(300, 300)
	p.Acks = true
	m := measure(t, p, &stub{acks: true, answer: unless(only(-1), 300*time.Millisecond)}, nil)
	m.has("acked 300 unknown 0")
	if first := m.metrics["ack"].Min; first < 300*ms {
		t.Errorf("shortest ack %d ms; want it counted from the send call", first/ms)
	}
}

// The broker is gone: messages in flight will not come back, so the run does not wait for them.
func TestARunWithoutABrokerEndsWithoutItsDrain(t *testing.T) {
	for _, p := range []*Plan{testPlan(1000, 100), closedPlan(100, 10)} {
		p.DrainNs, p.TimeoutNs = 600_000*ms, 600_000*ms
		c := openClients(t, p, &stub{copies: without(func(i int64) bool { return i >= 95 })})
		c.start(0)
		brokertest.Eventually(t, "it is quiet", c.quiet)
		c.generators[0].CloseBooks()
		c.finish()
		c.close()[0].has("state complete received 95 lost 5 failed 0 notOffered 0")
	}
}

func TestAClosedLoadThatTakesTooLongIsCutAndSaysSo(t *testing.T) {
	p := closedPlan(1_000_000, 1)
	p.Schedule.DurationNs = 400 * ms
	m := measure(t, p, &stub{receive: func(string, int64) { time.Sleep(time.Millisecond) }}, nil)
	m.has("lost 0 failed 0 received %d", m.window.Sent)
	if m.window.NotOffered == 0 || m.took > 5*time.Second {
		t.Errorf("the run took %s, and %d are not offered; want 0.4 s, and the rest", m.took, m.window.NotOffered)
	}
}

func TestARefusedMessageOfAClosedLoadMakesRoomForTheNext(t *testing.T) {
	m := measure(t, closedPlan(1000, 3), &stub{onSend: refused(every(10, 4))}, nil)
	m.has("failed 100 received 900 notOffered 0")
	if first := m.offenders["failed"]; first.Sequence != 4 {
		t.Errorf("first failed is %+v; want message 4", first)
	}
}

func TestAWarmUpThatNeverSettlesKeepsNoWindowShut(t *testing.T) {
	for words, c := range map[string]struct {
		stub *stub
		want string
	}{
		"a lost message": {&stub{copies: without(only(0))}, "warmup.lost 1 warmup.timedOut 1 received 100 timedOut 0"},
		// It was received in time.
		"a missing acknowledgement": {&stub{acks: true, answer: unless(only(0), 0)}, "warmup.unknown 1 warmup.timedOut 0 acked 100"},
	} {
		p := closedPlan(100, 10)
		p.Schedule.WarmupMessages, p.Schedule.Messages = 1, 101
		p.Acks, p.DrainNs, p.TimeoutNs = c.stub.acks, 600*ms, 300*ms
		m := measure(t, p, c.stub, nil)
		m.has(c.want)
		if opens := m.totals.WindowStartNs; opens == nil || *opens < 300*ms {
			t.Errorf("%s: the window opens at %v; want it after the timeout", words, opens)
		}
	}
}

// Twice as many are lost as fit into inFlight. The timeout is the default, the drain.
func TestLostMessagesOfAClosedLoadGiveBackTheirSlots(t *testing.T) {
	p := closedPlan(1000, 10)
	p.DrainNs, p.TimeoutNs = 300*ms, 300*ms
	m := measure(t, p, &stub{copies: without(every(50, 20))}, nil)
	m.has("state complete lost 20 notOffered 0 failed 0 received 980")
	// The last ones time out after the run is over, or just before; the others were in the way.
	m.between("timed out", *m.window.TimedOut, 10, 20)
	if first := m.offenders["lost"]; first.Sequence != 20 || first.IntendedNs != nil {
		t.Errorf("first lost %+v; want message 20, and no time: only the message knew when it was sent", first)
	}
}

func TestAMessageThatCompletesAfterItsTimeoutHasItsTrueTimeAndFreesNoSecondSlot(t *testing.T) {
	p := closedPlan(40, 1)
	p.DrainNs, p.TimeoutNs = 5000*ms, 100*ms
	var flying flight
	m := measure(t, p, &stub{
		onSend: func(*broker.Message) error { flying.add(1); return nil },
		receive: func(_ string, i int64) {
			time.Sleep(time.Duration(1500*ms) * time.Duration(max(0, 1-i)))
			flying.add(-1)
		},
	}, nil)
	m.has("received 40 lost 0 #service 40")
	if s := m.metrics["service"]; *m.window.TimedOut == 0 || m.window.Late == 0 || s.Max < 1500*ms {
		t.Errorf("%d timed out, %d late, services up to %d ms; want some, and 1500 ms", *m.window.TimedOut, m.window.Late, s.Max/ms)
	}
	// Message 0, the messages that had timed out behind it, and one more.
	if most := *m.window.TimedOut + 1; flying.highest > most {
		t.Errorf("%d at a time; want at most %d: each slot comes back once", flying.highest, most)
	}
}

// An ideal generator's message 1 waits for a timeout behind message 0, which is lost, and so do the others in their turn.
func TestWaitingForATimeoutIsTheSystemsTime(t *testing.T) {
	p := gated(1, testPlan(1000, 100))
	p.TimeoutNs, p.DrainNs = 500*ms, 10_000*ms
	var m *measured
	for range 3 { // a busy machine may be late by itself
		m = measure(t, p, &stub{copies: without(only(0))}, nil)
		if m.metrics["lag"].Sum <= m.metrics["queued"].Sum/4 {
			break
		}
	}
	m.has("timedOut 1 lost 1 received 99 failed 0")
	r, q, l, s := m.metrics["response"], m.metrics["queued"], m.metrics["lag"], m.metrics["service"]
	if q.Sum < 99*400*ms || l.Sum > q.Sum/4 {
		t.Errorf("queued %d ms, lag %d ms; want about 450 ms for each of 99, and hardly any lag", q.Sum/ms, l.Sum/ms)
	}
	if rest := r.Sum - s.Sum - q.Sum - l.Sum; rest > 0 || rest < -q.Max {
		t.Errorf("response is %d ms more than its parts", rest/ms)
	}
}
