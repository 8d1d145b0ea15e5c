package generator

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

// count is how many of the messages [from, to) are hit.
func count(from, to int64, hit func(i int64) bool) (n int64) {
	for i := from; i < to; i++ {
		if hit(i) {
			n++
		}
	}
	return n
}

func every(n, at int64) func(int64) bool { return func(i int64) bool { return i%n == at } }

// --- request-reply ---

func requestReplyPlan(rate, ms int64) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Topics, p.ReplyTopics = requestReply, []string{"a", "b"}, []string{"reply.a", "reply.b"}
	p.Consumers, p.ConsumerConnections, p.Producers, p.Connections = 3, 2, 4, 2
	return p
}

func TestARequestIsAnsweredByOneResponderOnTheRequestersConnection(t *testing.T) {
	s := &stub{}
	m := measure(t, requestReplyPlan(2000, 800), s, nil)
	if *m.window.Received != 1600 || *m.window.Lost != 0 || m.totals.Foreign != 0 {
		t.Errorf("received %d, lost %d, foreign %d; want 1600 0 0", *m.window.Received, *m.window.Lost, m.totals.Foreign)
	}
	var got []broker.Subscription
	for _, sub := range s.subscriptions {
		got = append(got, sub.Subscription)
	}
	want := []broker.Subscription{
		{Connection: 2, Topic: "a", Group: "responders", Members: 2},
		{Connection: 3, Topic: "b", Group: "responders", Members: 1},
		{Connection: 2, Topic: "a", Group: "responders", Members: 2},
		{Connection: 0, Topic: "reply.a", Members: 1},
		{Connection: 1, Topic: "reply.b", Members: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("subscriptions are\n%v, want\n%v", got, want)
	}
	if s.options.Connections != 4 {
		t.Errorf("%d connections; want 2 of producers and 2 of responders", s.options.Connections)
	}
	var names []string
	for _, topic := range s.prepared {
		names = append(names, topic.Name)
	}
	if want := []string{"a", "b", "reply.a", "reply.b"}; !slices.Equal(names, want) {
		t.Errorf("topics %v are prepared; want %v", names, want)
	}
	if m.window.Reordered != nil {
		t.Errorf("reordered is %d although two responders share a topic of a system without order in groups", *m.window.Reordered)
	}
	if s.removed.Load() != 1 {
		t.Errorf("Remove was called %d times; want once", s.removed.Load())
	}
}

func TestOnlyTheFirstReplyCounts(t *testing.T) {
	var requests, replies atomic.Int64
	s := &stub{deliveriesAt: func(subscription int, i int64) int {
		if subscription < 3 { // a request
			requests.Add(1)
			if i%10 == 3 {
				return 0
			}
			return 1
		}
		replies.Add(1)
		switch {
		case i%10 == 4:
			return 0
		case i%10 == 5:
			return 2
		}
		return 1
	}}
	m := measure(t, requestReplyPlan(2000, 500), s, nil)
	if *m.window.Received != 800 || *m.window.Lost != 200 || m.window.Duplicated != 100 {
		t.Errorf("received %d, lost %d, duplicated %d; want 800 200 100", *m.window.Received, *m.window.Lost, m.window.Duplicated)
	}
	if requests.Load() != 1000 || replies.Load() != 900 {
		t.Errorf("%d requests, %d replies; want 1000 and 900", requests.Load(), replies.Load())
	}
}

func TestAReplyThatIsRefusedIsALostRequestAndAnError(t *testing.T) {
	m := measure(t, requestReplyPlan(1000, 400), &stub{onSend: func(msg *broker.Message) error {
		if strings.HasPrefix(msg.Name, "reply.") && msg.Index%50 == 7 {
			return errors.New("no room")
		}
		return nil
	}}, nil)
	if *m.window.Lost != 8 || m.window.Failed != 0 {
		t.Errorf("lost %d, failed %d; want 8 and 0", *m.window.Lost, m.window.Failed)
	}
	if len(m.totals.Errors) != 1 || m.totals.Errors[0].Message != "reply: no room" || m.totals.Errors[0].Count != 8 {
		t.Errorf("errors %+v; want 8 of 'reply: no room'", m.totals.Errors)
	}
}

func TestRepliesKeepTheOrderOfARequesterWhereTheSystemKeepsItInGroups(t *testing.T) {
	p := requestReplyPlan(2000, 500)
	p.Partitions = 2
	m := measure(t, p, &stub{facts: broker.Description{GroupOrder: true}}, nil)
	if m.window.Reordered == nil || *m.window.Reordered != 0 || *m.window.Received != 1000 {
		t.Errorf("%+v; want 1000 received in order", m.window)
	}
}

// --- fan-out ---

func fanOutPlan(rate, ms int64, subscribers int) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Subscriptions, p.ConsumerConnections = fanOut, subscribers, 2
	p.Topics, p.Producers = []string{"run.a", "run.b"}, 3
	return p
}

func TestEverySubscriberGetsEveryMessage(t *testing.T) {
	p := fanOutPlan(2000, 500, 5)
	p.Bystanders = 3
	s := &stub{}
	m := measure(t, p, s, nil)
	if *m.window.Received != 5000 || *m.window.Delivered != 5000 || m.metrics["response"].Count != 5000 || m.metrics["last"].Count != 1000 {
		t.Errorf("received %d, responses %d, last %d; want 5000 5000 1000",
			*m.window.Received, m.metrics["response"].Count, m.metrics["last"].Count)
	}
	// 5 subscribers on two topics each, and the bystanders.
	if len(s.subscriptions) != 13 || len(s.prepared) != 5 || s.subscriptions[12].Topic != "run.bystander2" {
		t.Errorf("%d subscriptions, %d topics; want 13 and 5", len(s.subscriptions), len(s.prepared))
	}
	if last, all := m.metrics["last"], m.metrics["response"]; last.Max != all.Max || last.Sum > all.Sum || last.Sum*5 < all.Sum {
		t.Errorf("last %+v does not belong to responses %+v", last, all)
	}
}

func TestLastIsTheCopyOfTheSlowestSubscriber(t *testing.T) {
	p := fanOutPlan(500, 600, 3)
	p.Topics = []string{"run.a"}
	s := &stub{}
	slow := make(chan struct{})
	time.AfterFunc(time.Second, func() { close(slow) })
	handled := atomic.Int64{}
	s.receive = func(string, int64) {
		// Whoever takes the first copy of all is slow from then on.
		if handled.Add(1) == 1 {
			<-slow
		}
	}
	m := measure(t, p, s, nil)
	// The slowest subscriber has every message after 1 s; messages are due in the 0.6 s from T0, which is 0.1 s after the start.
	if last := m.metrics["last"]; last.Count != 300 || last.Min < 100*ms {
		t.Errorf("last %+v; want 300 of more than 100 ms", last)
	}
	if all := m.metrics["response"]; all.Min > 100*ms {
		t.Errorf("the fastest response took %d ms", all.Min/ms)
	}
}

func TestAWildcardIsOneSubscriptionPerSubscriber(t *testing.T) {
	p := fanOutPlan(1000, 400, 4)
	p.Wildcard = true
	s := &stub{facts: broker.Description{Wildcards: true}}
	m := measure(t, p, s, nil)
	if *m.window.Received != 1600 || len(s.subscriptions) != 4 || s.subscriptions[0].Topic != "run.*" || !s.subscriptions[0].Wildcard {
		t.Errorf("received %d by %d subscriptions to %s; want 1600, 4, run.*", *m.window.Received, len(s.subscriptions), s.subscriptions[0].Topic)
	}
}

func TestFaultsOfAFanOutAreCountedInCopies(t *testing.T) {
	const n, subscribers = 2000, 4
	p := fanOutPlan(4000, 500, subscribers)
	p.Topics, p.Acks = []string{"run.a"}, true
	refused, dropped, repeated, unacked := every(101, 5), every(97, 11), every(89, 13), every(83, 17)
	m := measure(t, p, &stub{
		acks: true,
		onSend: func(msg *broker.Message) error {
			if refused(msg.Index) {
				return errors.New("refused")
			}
			return nil
		},
		// Subscriber 1 misses some, subscriber 2 gets some twice.
		deliveriesAt: func(subscription int, i int64) int {
			switch {
			case subscription == 1 && dropped(i):
				return 0
			case subscription == 2 && repeated(i):
				return 2
			}
			return 1
		},
		ack: func(i int64) (time.Duration, bool) { return 0, !unacked(i) },
	}, nil)
	failed := count(0, n, refused)
	unknown := count(0, n, func(i int64) bool { return unacked(i) && !refused(i) })
	lost := count(0, n, func(i int64) bool { return dropped(i) && !unacked(i) && !refused(i) })
	missing := count(0, n, func(i int64) bool { return dropped(i) && !refused(i) })
	duplicated := count(0, n, func(i int64) bool { return repeated(i) && !refused(i) })
	w := m.window
	if w.Failed != failed || w.Unknown != unknown || *w.Lost != lost || w.Duplicated != duplicated {
		t.Errorf("failed %d unknown %d lost %d duplicated %d; want %d %d %d %d",
			w.Failed, w.Unknown, *w.Lost, w.Duplicated, failed, unknown, lost, duplicated)
	}
	if want := subscribers*(n-failed) - missing; *w.Received != want {
		t.Errorf("received %d copies; want %d", *w.Received, want)
	}
	if want := n - failed - missing; m.metrics["last"].Count != want {
		t.Errorf("last has %d messages; want %d: those of which every subscriber has its copy", m.metrics["last"].Count, want)
	}
	if first := m.offenders["lost"]; first.Sequence*3+first.Producer != 11 {
		t.Errorf("first lost is %+v; want message 11", first)
	}
}

func TestAMessageOfAFanOutLeavesFlightWithItsLastCopy(t *testing.T) {
	p := fanOutPlan(2000, 500, 3)
	p.Producers, p.Topics = 1, []string{"run.a"}
	limit := int64(4)
	p.InFlight = &limit
	var mu sync.Mutex
	copies, flying, highest := map[int64]int{}, 0, 0
	m := measure(t, p, &stub{
		onSend: func(*broker.Message) error {
			mu.Lock()
			defer mu.Unlock()
			flying++
			highest = max(highest, flying)
			return nil
		},
		receive: func(_ string, i int64) {
			mu.Lock()
			defer mu.Unlock()
			if copies[i]++; copies[i] == 3 {
				flying--
			}
		},
	}, nil)
	if highest > 4 || *m.window.Received != 3000 {
		t.Errorf("%d in flight, %d copies received; want at most 4, and 3000", highest, *m.window.Received)
	}
}

// --- work-queue ---

func workQueuePlan(rate, ms int64, members int) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Consumers, p.ConsumerConnections = workQueue, members, 2
	return p
}

func TestMembersOfAGroupShareTheMessages(t *testing.T) {
	s := &stub{}
	m := measure(t, workQueuePlan(3000, 500, 4), s, nil)
	if *m.window.Received != 1500 || len(s.subscriptions) != 4 || s.subscriptions[3].Members != 4 || s.subscriptions[3].Connection != 2 {
		t.Errorf("received %d by %+v; want 1500 by 4 members", *m.window.Received, s.subscriptions[3].Subscription)
	}
	if m.window.Reordered != nil {
		t.Error("order is counted although members share a topic")
	}
}

func TestFewMembersOnManyTopicsHaveEachTopicToThemselves(t *testing.T) {
	p := workQueuePlan(3000, 400, 2)
	p.Topics, p.Producers = []string{"a", "b", "c"}, 3
	s := &stub{}
	m := measure(t, p, s, nil)
	if len(s.subscriptions) != 3 || s.subscriptions[2].Members != 1 || s.subscriptions[2].Connection != 1 {
		t.Errorf("subscriptions %+v; want member 0 on the third topic, alone", s.subscriptions[2].Subscription)
	}
	if m.window.Reordered == nil || *m.window.Received != 1200 {
		t.Errorf("%+v; want order to be counted where no member shares a topic", m.window)
	}
}

func TestWorkTakesTheConsumersTimeAndNotTheProducers(t *testing.T) {
	p := workQueuePlan(200, 500, 1)
	p.Work = &Work{MeanNs: 10 * ms, Distribution: "constant"}
	p.DrainNs = 10_000 * ms
	s := &stub{}
	m := measure(t, p, s, nil)
	if *m.window.Received != 100 {
		t.Fatalf("received %d; want 100", *m.window.Received)
	}
	// Messages come every 5 ms and take 10: number i waits at least 5i ms for the one consumer.
	if sum := m.metrics["service"].Sum / ms; sum < 99*100/2*5 {
		t.Errorf("the sum of service is %d ms; want at least %d", sum, 99*100/2*5)
	}
	if q := m.metrics["queued"].Sum; q > m.metrics["service"].Sum/10 {
		t.Errorf("queued is %d ms: producers wait for consumers", q/ms)
	}
}

func TestWorkIsTheSameForEveryDeliveryAndHasItsMean(t *testing.T) {
	p := workQueuePlan(1000, 100, 1)
	p.Work = &Work{MeanNs: 1_000_000, Distribution: "exponential"}
	c := newConsumer(&Generator{plan: p})
	var sum int64
	const n = 100_000
	for i := range int64(n) {
		sum += c.workNs(i)
		if c.workNs(i) != c.workNs(i) {
			t.Fatal("work of a message changes")
		}
	}
	if mean := sum / n; mean < 980_000 || mean > 1_020_000 {
		t.Errorf("mean work is %d ns; want 1 000 000", mean)
	}
}

func TestARunDoesNotWaitForConsumersThatAreStillAtWork(t *testing.T) {
	p := workQueuePlan(100, 300, 1)
	p.Work = &Work{MeanNs: 60_000 * ms, Distribution: "constant"}
	p.DrainNs = 200 * ms
	m := measure(t, p, &stub{}, nil)
	if *m.window.Received != 1 || *m.window.Lost != 29 || m.took > 10*time.Second {
		t.Errorf("received %d, lost %d, took %s; want 1, 29, not a minute", *m.window.Received, *m.window.Lost, m.took)
	}
}

// --- publish ---

func publishPlan(rate, ms int64) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Acks = publish, true
	return p
}

func TestAPublishEndsAtItsAcknowledgement(t *testing.T) {
	s := &stub{acks: true, ack: func(i int64) (time.Duration, bool) { return 5 * time.Millisecond, i%100 != 3 }}
	p := publishPlan(1000, 500)
	p.DrainNs = 300 * ms
	m := measure(t, p, s, nil)
	w := m.window
	if *w.Acked != 495 || w.Unknown != 5 || len(s.subscriptions) != 0 {
		t.Errorf("acked %d, unknown %d, %d subscriptions; want 495 5 0", *w.Acked, w.Unknown, len(s.subscriptions))
	}
	if r, a := m.metrics["response"], m.metrics["ack"]; r != a || r.Min < 5*ms {
		t.Errorf("response %+v is not ack %+v", r, a)
	}
	if m.totals.FirstReceiveNs != nil || m.totals.LastAckNs == nil {
		t.Error("a publish has receipts, or no acknowledgements")
	}
}

func TestAGateOfAPublishOpensWithTheAcknowledgement(t *testing.T) {
	p := publishPlan(2000, 400)
	limit := int64(3)
	p.InFlight = &limit
	var flying, highest atomic.Int64
	m := measure(t, p, &stub{acks: true,
		onSend: func(*broker.Message) error {
			highest.Store(max(highest.Load(), flying.Add(1)))
			return nil
		},
		ack: func(int64) (time.Duration, bool) { flying.Add(-1); return 0, true },
	}, nil)
	if *m.window.Acked != 800 || highest.Load() > 4 {
		t.Errorf("acked %d, in flight %d; want 800, at most 3 and the one being sent", *m.window.Acked, highest.Load())
	}
}

// --- backlog ---

func TestABacklogIsBuiltWhileConsumersPauseAndDrainedAfterwards(t *testing.T) {
	p := workQueuePlan(1000, 900, 2)
	p.Pattern, p.Acks = backlog, true
	p.Backlog = &Backlog{PauseNs: 300 * ms, ResumeNs: 700 * ms, Messages: 400}
	s := &stub{acks: true, facts: broker.Description{Stores: true}}
	m := measure(t, p, s, nil)
	if *m.window.Received != 900 || *m.window.Lost != 0 || *m.window.Acked != 900 || m.window.Late != 0 {
		t.Errorf("%+v; want 900 acknowledged and received", m.window)
	}
	for _, name := range []string{"response", "service", "last"} {
		if n := m.metrics[name].Count; n != 0 {
			t.Errorf("a backlog has %d values of %s", n, name)
		}
	}
	if m.metrics["lag"].Count != 900 || m.metrics["ack"].Count != 900 {
		t.Errorf("%d lags, %d acks; want 900 of each", m.metrics["lag"].Count, m.metrics["ack"].Count)
	}
	if q := m.metrics["queued"].Sum; q > 100*ms {
		t.Errorf("queued is %d ms: producers wait for consumers that pause", q/ms)
	}
}

func TestNothingIsTakenInAPause(t *testing.T) {
	p := workQueuePlan(1000, 900, 2)
	p.Pattern = backlog
	p.Backlog = &Backlog{PauseNs: 300 * ms, ResumeNs: 700 * ms, Messages: 400}
	c := newConsumer(&Generator{plan: p})
	for _, at := range []struct {
		ns, want int64
		words    string
	}{
		{299 * ms, 299 * ms, "before"},
		{300 * ms, 700 * ms, "handed over as the pause begins"},
		{699 * ms, 700 * ms, "handed over in it"},
		{700 * ms, 700 * ms, "as it ends"},
	} {
		if got := c.takenAt(at.ns); got != at.want {
			t.Errorf("%s: a message handed over at %d ms is taken at %d; want %d", at.words, at.ns/ms, got/ms, at.want/ms)
		}
	}
}

// --- order ---

func TestOrderIsThatOfAProducersPartition(t *testing.T) {
	p := testPlan(2000, 500)
	p.Partitions = 2
	// The next message is of the other partition: overtaking within the topic is nobody's broken promise.
	m := measure(t, p, &stub{overtaken: func(i int64) bool { return i%100 == 50 }}, nil)
	if *m.window.Reordered != 0 || *m.window.Received != 1000 {
		t.Errorf("reordered %d of %d; want none", *m.window.Reordered, *m.window.Received)
	}
	p = testPlan(2000, 500)
	m = measure(t, p, &stub{overtaken: func(i int64) bool { return i%100 == 50 }}, nil)
	if *m.window.Reordered != 10 {
		t.Errorf("reordered %d in one partition; want 10", *m.window.Reordered)
	}
}

func TestOrderIsThatOfAKey(t *testing.T) {
	for _, c := range []struct {
		keys, want int64
		words      string
	}{{1, 10, "one key"}, {3, 0, "neighbours with different keys"}} {
		p := testPlan(2000, 500)
		p.Keys, p.Order = &Keys{Distribution: "round-robin", Count: c.keys}, "per-key"
		var wrong atomic.Int64
		m := measure(t, p, &stub{
			overtaken: func(i int64) bool { return i%100 == 50 },
			onSend: func(msg *broker.Message) error {
				if msg.Partition != -1 || string(msg.Key) != "k"+string(rune('0'+msg.Index%c.keys)) {
					wrong.Add(1)
				}
				return nil
			},
		}, nil)
		if *m.window.Reordered != c.want || wrong.Load() != 0 {
			t.Errorf("%s: reordered %d; want %d; %d messages had another key or a partition", c.words, *m.window.Reordered, c.want, wrong.Load())
		}
	}
}

func TestPartitionsAreTakenInTurnByEachProducer(t *testing.T) {
	p := testPlan(2000, 300)
	p.Partitions, p.Producers = 3, 2
	var wrong atomic.Int64
	s := &stub{onSend: func(msg *broker.Message) error {
		if int64(msg.Partition) != msg.Index/2%3 {
			wrong.Add(1)
		}
		return nil
	}}
	measure(t, p, s, nil)
	if wrong.Load() != 0 || s.prepared[0].Partitions != 3 {
		t.Errorf("%d messages in another partition; topics have %d", wrong.Load(), s.prepared[0].Partitions)
	}
}

// --- schedules ---

func TestPoissonArrivalsAndStagesKeepTheirIdentities(t *testing.T) {
	for kind, shape := range map[string]schedule.Shape{
		"poisson": {Kind: "poisson", Rate: &schedule.Rate{Messages: 3000, PerNs: 1e9}, Seed: 5},
		"stages": {Kind: "stages", Rate: &schedule.Rate{Messages: 4000, PerNs: 1e9}, Pieces: []schedule.Piece{{
			DurationNs: 600 * ms, From: schedule.Rate{Messages: 500, PerNs: 1e9}, To: schedule.Rate{Messages: 4000, PerNs: 1e9},
		}}},
	} {
		p := testPlan(1, 600)
		p.Schedule.Shape = shape
		p.Producers = 2
		complete(p)
		m := measure(t, p, &stub{}, nil)
		if *m.window.Received != p.Schedule.Messages || p.Schedule.Messages < 1000 || m.totals.Foreign != 0 {
			t.Errorf("%s: received %d of %d, foreign %d", kind, *m.window.Received, p.Schedule.Messages, m.totals.Foreign)
		}
	}
}

// --- agreement ---

func TestAPlanAndADriverThatDisagreeAreToldApartBeforeTheRun(t *testing.T) {
	queue := workQueuePlan(100, 100, 1)
	queue.Pattern, queue.Backlog = backlog, &Backlog{PauseNs: 10 * ms, ResumeNs: 20 * ms}
	wild := fanOutPlan(100, 100, 1)
	wild.Wildcard = true
	promised := testPlan(100, 100)
	promised.Acks = true
	for _, c := range []struct {
		plan *Plan
		stub *stub
		want string
	}{
		{promised, &stub{}, "the driver says they are not"},
		{testPlan(100, 100), &stub{acks: true}, "the plan says they are not"},
		{wild, &stub{}, "no subscriptions by a pattern"},
		{queue, &stub{}, "stores messages"},
	} {
		names++
		c.plan.Broker = "disagreeing-" + string(rune('a'+names%26)) + string(rune('a'+names/26%26))
		broker.Register(c.plan.Broker, c.stub.driver)
		g, err := New(c.plan, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Open(t.Context(), nil, Versions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open says %v; want %q", err, c.want)
		}
		if c.stub.removed.Load() != 1 {
			t.Errorf("%q: Remove was called %d times; want once", c.want, c.stub.removed.Load())
		}
	}
}

func TestTheDriverIsToldWhatThePlanAsksFor(t *testing.T) {
	p := testPlan(100, 100)
	level, replicas, limit := "fsync", 3, int64(10)
	p.DurabilityLevel, p.Replicas, p.InFlight, p.Producers, p.Connections, p.TimeoutNs = &level, &replicas, &limit, 5, 2, 7*ms
	o := p.options("url", nil, nil)
	if o.Durability != "fsync" || o.Replicas != 3 || o.InFlight != 30 || o.TimeoutNs != 7*ms || o.Connections != 2 {
		t.Errorf("options %+v; want fsync, 3 replicas, 10 in flight for each of 3 producers, 7 ms, 2 connections", o)
	}
}
