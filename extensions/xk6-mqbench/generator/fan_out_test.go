package generator

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func TestEverySubscriberGetsEveryMessage(t *testing.T) {
	p := fanOutPlan(2000, 500, 5)
	p.Bystanders = 3
	s := &stub{}
	m := measure(t, p, s, nil)
	m.has("received 5000 delivered 5000 #response 5000 #last 1000")
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
		// The subscriber that gets the first copies is slow: it has its messages when the others have all of theirs.
		if handled.Add(1) > 1 {
			return
		}
		for give := time.Now().Add(20 * time.Second); handled.Load() < 601 && time.Now().Before(give); {
			time.Sleep(time.Millisecond)
		}
	}}, nil)
	m.has("#last 300 #response 900")
	// The last message is due after 598 ms, message i after 2i: no last copy came earlier than 598 ms after T0.
	if last, all := m.metrics["last"], m.metrics["response"]; last.Sum < 89_700*ms || all.Max != last.Max {
		t.Errorf("last %+v of %+v; want together 89.7 s and more, and the longest response among them", last, all)
	}
}

func TestAWildcardIsOneSubscriptionPerSubscriber(t *testing.T) {
	p := fanOutPlan(1000, 400, 4)
	p.Wildcard = true
	s := &stub{facts: broker.Description{Wildcards: true}}
	measure(t, p, s, nil).has("received 1600")
	if len(s.subscriptions) != 4 || s.subscriptions[0].Topic != "run.*" || !s.subscriptions[0].Wildcard {
		t.Errorf("%d subscriptions to %s; want 4 to run.*", len(s.subscriptions), s.subscriptions[0].Topic)
	}
}

func TestFaultsOfAFanOutAreCountedInCopies(t *testing.T) {
	const n, subscribers = 2000, 4
	p := fanOutPlan(4000, 500, subscribers)
	p.Topics, p.Acks = []string{"run.a"}, true
	refuses, dropped, repeated, unacked := every(101, 5), every(97, 11), every(89, 13), every(83, 17)
	m := measure(t, p, &stub{
		acks:   true,
		onSend: refused(refuses),
		// Subscriber 1 misses some, subscriber 2 gets some twice.
		copies: func(subscription int, i int64) int {
			switch {
			case subscription == 1 && dropped(i):
				return 0
			case subscription == 2 && repeated(i):
				return 2
			}
			return 1
		},
		answer: unless(unacked, 0),
	}, nil)
	sent := func(of func(i int64) bool) int64 {
		return count(0, n, func(i int64) bool { return of(i) && !refuses(i) })
	}
	failed, missing, unknown := count(0, n, refuses), sent(dropped), sent(unacked)
	lost := sent(func(i int64) bool { return dropped(i) && !unacked(i) })
	m.has("failed %d unknown %d lost %d duplicated %d acked %d", failed, unknown, lost, sent(repeated), n-failed-unknown)
	// Last counts the messages of which every subscriber has its copy.
	m.has("received %d #last %d", subscribers*(n-failed)-missing, n-failed-missing)
	if first := m.offenders["lost"]; first.Sequence*3+first.Producer != 11 {
		t.Errorf("first lost is %+v; want message 11", first)
	}
}

func TestAPublishEndsAtItsAcknowledgementAndNothingWaitsForItsReceivers(t *testing.T) {
	s := &stub{acks: true, answer: unless(every(100, 3), 5*time.Millisecond)}
	p := publishPlan(1000, 500)
	p.DrainNs = 300 * ms
	m := measure(t, p, s, nil)
	m.has("acked 495 unknown 5 firstReceiveNs null")
	if r, a := m.metrics["response"], m.metrics["ack"]; r != a || r.Min < 5*ms || len(s.subscriptions) != 0 || m.totals.LastAckNs == nil || bytes.Contains(m.text(".jsonl"), []byte(`"held"`)) {
		t.Errorf("response %+v is not ack %+v, or there are subscriptions: %d, or receivers", r, a, len(s.subscriptions))
	}
}
