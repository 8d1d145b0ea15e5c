package generator

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// The signature test: a broker that freezes for half a second must show in every message that was due during the freeze.
func TestAFreezeOfTheBrokerIsInTheResponseOfEachMessageDueMeanwhile(t *testing.T) {
	p := testPlan(1000, 3000)
	for _, limit := range []int64{100, 200, 300, 400} {
		p.Limits = append(p.Limits, recorder.Limit{Metric: recorder.Response, Ns: limit * ms})
	}
	var frozen nap
	m := measure(t, p, &stub{receive: at(1000, func() { frozen.take(500 * time.Millisecond) })}, nil)
	// Messages over x are those due in the first 0.5 s - x of the freeze. A busy machine adds stalls, and most of their time is lag because
	// the generator stands still too; without its lag a message was due by that much later.
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
	// A closed loop would not have sent the messages due while message 1000 was in flight; a busy machine adds others.
	m.between("sent behind an earlier message", *m.window.Behind, 400-lag, 3000)
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
	// 499 messages wait 499, 498, ... ms behind the one that blocks: 125 s in all. If the later sends find no core at once, they hold up the
	// next ones, too; the generator's own lateness is not queued.
	queued, took := m.metrics["queued"], blocked.ms()
	least := max(0, took-m.lagMs())
	m.between("sum of queued in ms", queued.Sum/ms, least*least/2*80/100, took*took*2)
	m.between("longest queued in ms", queued.Max/ms, least*80/100, took*3)
	m.has("received 2000")
	// The slowest are those that have waited, and so are all that took between 50 and 300 ms; a generator that was late itself has slow ones elsewhere.
	for k, s := range m.slowest {
		if k > 0 && s.ResponseNs > m.slowest[k-1].ResponseNs || s.Sequence > 500 && s.Sequence < 540 && s.QueuedNs < (s.ResponseNs-s.LagNs)/2 {
			t.Errorf("number %d of the slowest is not queued, or slower than the one before: %+v", k, s)
		}
	}
	var messages, queuedNs, serviceNs int64
	for _, b := range m.breakdown {
		if b.FromNs >= 50*ms && b.ToNs < 300*ms {
			messages, queuedNs, serviceNs = messages+b.Messages, queuedNs+b.QueuedNs, serviceNs+b.ServiceNs
		}
	}
	if late := m.lagMs(); len(m.slowest) != 20 || late < 20 && (messages < 150 || queuedNs < serviceNs) {
		t.Errorf("%d slowest; %d messages were queued for %d ns in all, and served for %d; want 20, and about 250, most of their time queued", len(m.slowest), messages, queuedNs, serviceNs)
	}
}

func TestAFrozenHeartbeatIsLagAndMovesNoIntendedTime(t *testing.T) {
	// Each send takes sendUs of the 1000 us between messages: an ideal generator is never late.
	for _, sendUs := range []int64{0, 100} {
		p := testPlan(1000, 2000)
		p.Limits = append(p.Limits, recorder.Limit{Metric: recorder.Response, Ns: 100 * ms})
		var frozen nap
		var carried atomic.Int64
		m := measure(t, p, &stub{onSend: func(m *broker.Message) error {
			e, _ := envelope.Get(m.Payload)
			carried.Add(e.Lag)
			for began := time.Now(); time.Since(began) < time.Duration(sendUs)*time.Microsecond; {
			}
			return nil
		}}, func(slot func()) {
			began := time.Now()
			for time.Since(began) < 2300*time.Millisecond {
				go slot()
				time.Sleep(10 * time.Millisecond)
				if frozen.ms() == 0 && time.Since(began) > 800*time.Millisecond {
					frozen.take(500 * time.Millisecond)
				}
			}
		})
		m.has("notOffered 0 received 2000 foreign 0")
		// Claims reach 50 ms ahead: the freeze delays the messages due in the other 450 ms; 350 of those are over 100 ms.
		late := frozen.ms() - 50
		m.between("over 100 ms", m.over[0], (late-100)*80/100, 2000)
		m.between("over 100 ms without lag", m.overWithoutLag[0], 0, m.over[0]/2)
		lag := m.metrics["lag"].Sum / ms
		m.between("ns of lag that the messages carry", carried.Load(), m.metrics["lag"].Sum, m.metrics["lag"].Sum)
		m.between("sum of lag in ms", lag, late*late/2*80/100, m.metrics["response"].Sum/ms)
		// A thread that waits for a core within a send makes queued time too: a few percent on an idle machine, more on a busy one.
		m.between("sum of queued in ms", m.metrics["queued"].Sum/ms, 0, lag)
	}
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
	m.has("state interrupted failed 0 lost 0")
	// T0 is 100 ms after the first claim, the last claim reaches 50 ms ahead: 1 s of claims are 0.96 s of schedule.
	m.between("not offered", m.window.NotOffered, 500, 1500)
}

func TestAGateHoldsUpItsOwnProducerOnly(t *testing.T) {
	p := gated(10, testPlan(2000, 1500))
	p.Producers, p.Connections, p.Topics = 2, 2, []string{"slow", "fast"}
	var frozen nap
	var meanwhile atomic.Int64
	var freezing atomic.Bool
	var freeze sync.Once
	m := measure(t, p, &stub{
		onSend: func(msg *broker.Message) error {
			if msg.Name == "fast" && freezing.Load() {
				meanwhile.Add(1)
			}
			return nil
		},
		receive: func(topic string, i int64) {
			if topic == "slow" && i == 200 {
				freeze.Do(func() {
					freezing.Store(true)
					frozen.take(400 * time.Millisecond)
					freezing.Store(false)
				})
			}
		},
	}, nil)
	m.has("received 3000")
	// In a freeze of d seconds 1000 d messages of the slow producer wait, half of it in the mean; the fast one's do not.
	took := frozen.ms()
	least := max(0, took-m.lagMs())
	m.between("sum of queued in ms", m.metrics["queued"].Sum/ms, least*least/2*80/100, took*took*2)
	// It sends 1000 a second during that time; on a machine that is busy with other programs, at least a tenth of them.
	m.between("messages of the fast producer during the freeze", meanwhile.Load(), took/10, took*4)
}

func TestNoMoreIsInFlightThanTheLimit(t *testing.T) {
	fan := fanOutPlan(2000, 500, 3)
	fan.Producers, fan.Topics = 1, []string{"run.a"}
	for words, c := range map[string]struct {
		plan *Plan
		// most in flight; received or acked.
		most int64
		want string
	}{
		"open":                                 {gated(10, testPlan(2000, 500)), 10, "received 1000"},
		"closed":                               {closedPlan(2000, 7), 7, "received 2000"},
		"a fan-out, until its last copy":       {gated(4, fan), 4, "received 3000"},
		"a publish, until its acknowledgement": {gated(3, publishPlan(2000, 400)), 4, "acked 800"}, // 3 and the one being sent
	} {
		t.Run(words, func(t *testing.T) {
			var flying flight
			var mu sync.Mutex
			copies := map[int64]int64{}
			s := &stub{
				acks:   c.plan.Acks,
				onSend: func(*broker.Message) error { flying.add(1); return nil },
				receive: func(_ string, i int64) {
					mu.Lock()
					defer mu.Unlock()
					if copies[i]++; copies[i] == c.plan.subscribers() {
						flying.add(-1)
					}
				},
			}
			if c.plan.Acks {
				s.answer = func(int64) (time.Duration, error) { flying.add(-1); return 0, nil }
			}
			measure(t, c.plan, s, nil).has(c.want)
			if flying.highest > c.most {
				t.Errorf("%d in flight; want at most %d", flying.highest, c.most)
			}
		})
	}
}

func TestMessagesThatTheGateKeptFromLeavingHaveFailed(t *testing.T) {
	p := gated(5, testPlan(1000, 500))
	p.DrainNs = 200 * ms
	m := measure(t, p, &stub{copies: without(every(1, 0))}, nil)
	m.has("state complete lost 5 failed 495 notOffered 0")
	if m.took > 10*time.Second {
		t.Errorf("the run took %s", m.took)
	}
}

func TestASendThatNeverReturnsEndsTheRunInBoundedTimeAndLeavesOtherConnectionsAlone(t *testing.T) {
	three := testPlan(1000, 600)
	three.Producers, three.Connections, three.Topics = 3, 3, []string{"a", "b", "c"}
	two := closedPlan(1000, 10)
	two.Producers, two.Connections = 2, 2
	for words, c := range map[string]struct {
		plan           *Plan
		hangs, closing int64
		want           string
	}{
		"the one connection": {testPlan(1000, 500), 100, -1, "received 100"},
		// Producer 0 got 50 of its 200 through; the one that hangs and those behind it have failed.
		"one of three": {three, 150, -1, "received 450 failed 150 notOffered 0"},
		// The gate closes at message 50 for a while, so the sender's own goroutine takes over.
		"behind a gate": {gated(3, testPlan(1000, 300)), 70, 50, "received 70 lost 0 failed 230"},
		// Producer 0 got 50 messages through, its 51st hangs; producer 1 sent all of its 500.
		"one of two of a closed load": {two, 100, -1, "received 550 failed 1 notOffered 449"},
	} {
		t.Run(words, func(t *testing.T) {
			c.plan.DrainNs = 300 * ms
			never := make(chan struct{})
			defer close(never)
			m := measure(t, c.plan, &stub{
				receive: at(c.closing, func() { time.Sleep(50 * time.Millisecond) }),
				onSend: func(msg *broker.Message) error {
					if msg.Index == c.hangs {
						<-never
					}
					return nil
				},
			}, nil)
			m.has(c.want)
			// Not offered are the slots that no VU claimed: none, unless the heartbeat found no core.
			if m.window.Failed == 0 || m.window.Failed+m.window.NotOffered+*m.window.Received != c.plan.Schedule.Messages || m.took > 10*time.Second {
				t.Errorf("%s after %s; want the rest failed, or not offered", asJSON(m.window), m.took)
			}
		})
	}
}

// All that left has time to come back. Messages that were due and could not leave have failed; the rest was not offered.
func TestAnInterruptedRunKeepsWhatItHasAndWaitsForWhatIsUnderWay(t *testing.T) {
	const last = 100
	var generator *Generator
	for words, c := range map[string]struct {
		plan *Plan
		stub func(cancel func()) *stub
		// blocked: something could not leave, unless a busy machine stopped the generator in the call.
		blocked bool
		// received, least and most.
		least, most int64
	}{
		"open": {testPlan(1000, 60_000), func(cancel func()) *stub { return &stub{receive: at(300, cancel)} }, false, 300, 10_000},
		"the message that is just leaving, and what it held up": {testPlan(1000, 60_000), func(cancel func()) *stub {
			return &stub{
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
				receive: at(last, func() { time.Sleep(50 * time.Millisecond) }),
			}
		}, true, last + 1, last + 1},
		"a system that is behind": {gated(10, testPlan(5000, 60_000)), func(cancel func()) *stub {
			return &stub{receive: func(_ string, i int64) {
				if i == last {
					cancel()
				}
				time.Sleep(5 * time.Millisecond) // 200 a second at best
			}}
		}, true, last, 10_000},
		"closed": {closedPlan(1_000_000, 1), func(cancel func()) *stub { return &stub{receive: at(100, cancel)} }, false, 100, 999_999},
	} {
		t.Run(words, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			s := c.stub(cancel)
			s.ctx, s.onNew = ctx, func(g *Generator) { generator = g }
			m := measure(t, c.plan, s, nil)
			m.has("state interrupted lost 0")
			m.between("received", *m.window.Received, c.least, c.most)
			if *m.window.Received+m.window.Failed != m.window.Sent || m.window.NotOffered == 0 || c.blocked && m.window.Failed == 0 && m.stoppedNs == 0 {
				t.Errorf("%s; want all that left received", asJSON(m.window))
			}
		})
	}
}

func TestASendThatBlocksHoldsUpItsOwnConnectionOnly(t *testing.T) {
	p := testPlan(2000, 1500)
	p.Producers, p.Connections, p.Topics = 2, 2, []string{"slow", "fast"}
	var sent atomic.Int64
	m := measure(t, p, &stub{onSend: func(msg *broker.Message) error {
		if msg.Name == "fast" {
			sent.Add(1)
			return nil
		}
		// The call returns when the other connection has sent 300 more, and 300 ms are over: of a late generator they leave sooner.
		began, until := time.Now(), sent.Load()+300
		for msg.Index == 400 && (sent.Load() < until || time.Since(began) < 300*time.Millisecond) {
			if time.Since(began) > 20*time.Second {
				t.Error("the other connection is held up")
				break
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	}}, nil)
	m.has("received 3000 failed 0 reordered 0")
	// 300 messages became due behind the call, in the 300 ms that it took at least: 45 s of waiting for the system, of which a generator that
	// was late during that time has taken some on itself.
	if queued, lag := m.metrics["queued"].Sum, m.metrics["lag"].Sum; queued == 0 || queued+lag < 40_000*ms {
		t.Errorf("queued is %d ms, lag %d ms; want 45 s", queued/ms, lag/ms)
	}
}

func TestEveryConnectionMayBlockAndNoMessageIsSentTwiceOrOutOfOrder(t *testing.T) {
	p := testPlan(4000, 1200)
	p.Producers, p.Connections, p.Topics = 6, 3, []string{"a", "b", "c", "d", "e", "f"}
	p.Schedule.WarmupNs = 123 * ms
	var sends sync.Map
	var twice atomic.Int64
	m := measure(t, complete(p), &stub{onSend: func(msg *broker.Message) error {
		if _, again := sends.LoadOrStore(msg.Index, true); again {
			twice.Add(1)
		}
		if msg.Index%97 == 0 {
			time.Sleep(8 * time.Millisecond)
		}
		return nil
	}}, nil)
	// Where the machine starves the stub's slots, messages are not offered, which this test does not check.
	m.has("warmup.received 492 received %d duplicated 0 reordered 0", 4800-m.window.NotOffered)
	if twice.Load() != 0 || *m.window.Received == 0 {
		t.Errorf("%d messages are sent twice, %d received", twice.Load(), *m.window.Received)
	}
}

func TestSendCallsOfOneConnectionDoNotOverlap(t *testing.T) {
	p := gated(1, testPlan(4000, 500))
	p.Producers, p.DrainNs = 4, 30_000*ms
	var calls flight
	m := measure(t, p, &stub{onSend: func(*broker.Message) error {
		calls.add(1)
		time.Sleep(50 * time.Microsecond)
		calls.add(-1)
		return nil
	}}, nil)
	m.has("received 2000")
	if calls.highest > 1 {
		t.Errorf("%d send calls at a time", calls.highest)
	}
}

func TestAGeneratorThatCannotKeepUpBlamesItself(t *testing.T) {
	p := testPlan(50_000_000, 20)
	p.DrainNs = 10_000 * ms
	m := measure(t, p, inline(), nil)
	m.has("failed 0")
	if lag, queued := m.metrics["lag"].Sum, m.metrics["queued"].Sum; queued != 0 || lag == 0 {
		t.Errorf("lag %d ms, queued %d ms; want all of it to be lag", lag/ms, queued/ms)
	}
	p = testPlan(100_000_000, 200)
	p.DrainNs = 1 * ms
	if m = measure(t, p, inline(), nil); m.window.NotOffered == 0 || m.window.Failed != 0 {
		t.Errorf("not offered %d, failed %d; want the rest not offered", m.window.NotOffered, m.window.Failed)
	}
}

// Everything is due 20 s before it is sent. Producers that then wait for each other's calls, or for a slot, are still late.
func TestALateGeneratorBlamesNeitherConnectionNorGate(t *testing.T) {
	for _, limit := range []int64{0, 1, 5} {
		for _, pattern := range []string{roundTrip, publish, backlog} {
			p := roundTripPlan(2000, 300, 2, 6)
			if limit > 0 {
				gated(limit, p)
			}
			p.Pattern, p.Acks, p.DrainNs = pattern, pattern == publish, 60_000*ms
			if pattern == backlog {
				p.Consumers, p.ConsumerConnections, p.Backlog = 2, 2, &Backlog{ResumeNs: 1}
			}
			// The first call takes so long that another thread becomes the pacer, and the senders' goroutines share the connection.
			s := &stub{acks: p.Acks, facts: broker.Description{Stores: true}, onSend: func(m *broker.Message) error {
				if m.Index == 0 {
					time.Sleep(30 * time.Millisecond)
				}
				return nil
			}}
			m := runLate(t, complete(p), s, 20*time.Second)[0]
			lag, queued := m.metrics["lag"], m.metrics["queued"].Sum
			if lag.Count != 600 || lag.Min < 19_000*ms || queued > lag.Sum/100 {
				t.Errorf("a gate of %d, %s: %d lags, the smallest %d ms, queued %d ms of %d; want all to be lag", limit, pattern, lag.Count, lag.Min/ms, queued/ms, (lag.Sum+queued)/ms)
			}
		}
	}
}

// Every send fails but is delivered. A gate that opens twice a message would let all through at once.
func TestAMessageThatFailsAndArrivesLeavesFlightOnce(t *testing.T) {
	m := measure(t, gated(5, testPlan(1000, 1000)), &stub{
		receive: func(string, int64) { time.Sleep(2 * time.Millisecond) },
		answer:  func(int64) (time.Duration, error) { return 0, errRefused },
	}, nil)
	m.has("failed 1000 sent 1000")
}

// Messages whose command was written and not answered may have arrived, with acknowledgements or without.
func TestAMessageThatMayHaveLeftIsUnknownWithoutAcknowledgementsToo(t *testing.T) {
	gone := fmt.Errorf("gone: %w", broker.ErrUnknown)
	m := measure(t, testPlan(1000, 500), &stub{
		onSend: func(msg *broker.Message) error { return map[int64]error{3: gone, 4: errRefused}[msg.Index%10] },
		answer: func(i int64) (time.Duration, error) { return 0, map[int64]error{5: gone}[i%10] },
	}, nil)
	m.has("unknown 100 failed 50 received 400 unackedReceived 50 lost 0 delivered 350")
	if _, found := m.offenders["lost"]; found || m.totals.EndNs > 1500*ms {
		t.Errorf("first lost %v, end at %d ms; want none, and no wait for what will not come", m.offenders, m.totals.EndNs/ms)
	}
}

func TestWhatWaitsAtTheGateIsBehindAnEarlierMessageAsWell(t *testing.T) {
	m := measure(t, gated(1, testPlan(1000, 1000)), &stub{receive: func(string, int64) { time.Sleep(5 * time.Millisecond) }}, nil)
	// One in 5 ms is answered: four of five are due while another one is in flight, and later all, because they pile up.
	m.between("due behind an earlier message", *m.window.Behind, 750, 1000)
}
