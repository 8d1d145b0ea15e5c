package generator

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func workQueuePlan(rate, ms int64, members int) *Plan {
	p := testPlan(rate, ms)
	p.Pattern, p.Consumers, p.ConsumerConnections = workQueue, members, 2
	return p
}

func TestMembersOfAGroupShareTheMessages(t *testing.T) {
	s := &stub{}
	m := measure(t, workQueuePlan(3000, 500, 4), s, nil)
	if *m.window.Received != 1500 || len(s.subscriptions) != 4 || len(s.prepared.Subscriptions) != 4 || s.subscriptions[3].Connection != 2 {
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
	if len(s.subscriptions) != 3 || s.subscriptions[2].Topic != "c" || s.subscriptions[2].Connection != 1 {
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
	if m := measure(t, p, &stub{}, nil); *m.window.Received != 1 || *m.window.Lost != 29 || m.took > 10*time.Second {
		t.Errorf("received %d, lost %d, took %s; want 1, 29, not a minute", *m.window.Received, *m.window.Lost, m.took)
	}
}

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
	// If they did, 400 messages would wait 200 ms in the mean.
	if q := m.metrics["queued"].Sum; q > 400*200*ms/10 {
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
