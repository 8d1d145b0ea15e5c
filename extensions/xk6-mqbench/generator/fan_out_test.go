package generator

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

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
	if len(s.subscriptions) != 13 || len(s.prepared.Topics) != 5 || s.subscriptions[12].Topic != "run.bystander2" {
		t.Errorf("%d subscriptions, %d topics; want 13 and 5", len(s.subscriptions), len(s.prepared.Topics))
	}
	if last, all := m.metrics["last"], m.metrics["response"]; last.Max != all.Max || last.Sum > all.Sum || last.Sum*5 < all.Sum {
		t.Errorf("last %+v does not belong to responses %+v", last, all)
	}
}

func TestLastIsTheCopyOfTheSlowestSubscriber(t *testing.T) {
	p := fanOutPlan(500, 600, 3)
	p.Topics = []string{"run.a"}
	var handled atomic.Int64
	m := measure(t, p, &stub{receive: func(string, int64) {
		// Whoever takes the first copy of all is slow: it has its messages when the others have all of theirs.
		if handled.Add(1) > 1 {
			return
		}
		for give := time.Now().Add(20 * time.Second); handled.Load() < 601 && time.Now().Before(give); {
			time.Sleep(time.Millisecond)
		}
	}}, nil)
	// The last message is due after 598 ms, message i after 2i: no last copy came earlier than 598 ms after T0.
	if last := m.metrics["last"]; last.Count != 300 || last.Sum < 89_700*ms {
		t.Errorf("last %+v; want 300, together 89.7 s and more", last)
	}
	if all := m.metrics["response"]; all.Count != 900 || all.Max != m.metrics["last"].Max {
		t.Errorf("responses %+v; want 900, the longest of which is the longest last", all)
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
