package generator

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

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
	if *m.window.Received != 3000 || m.window.Failed != 0 || *m.window.Reordered != 0 {
		t.Errorf("%+v; want 3000 received in order", m.window)
	}
	// 300 messages became due behind the call, in the 300 ms that it took at least: 45 s of waiting for the system, of which a generator that was late
	// meanwhile has taken some on itself.
	if queued, lag := m.metrics["queued"].Sum, m.metrics["lag"].Sum; queued == 0 || queued+lag < 40_000*ms {
		t.Errorf("queued is %d ms, lag %d ms; want 45 s", queued/ms, lag/ms)
	}
}

func TestASendThatNeverReturnsLeavesTheOtherConnectionsAlone(t *testing.T) {
	p := testPlan(1000, 600)
	p.Producers, p.Connections, p.Topics, p.DrainNs = 3, 3, []string{"a", "b", "c"}, 300*ms
	never := make(chan struct{})
	defer close(never)
	m := measure(t, p, &stub{onSend: func(msg *broker.Message) error {
		if msg.Index == 150 { // producer 0
			<-never
		}
		return nil
	}}, nil)
	// Producer 0 got 50 of its 200 through; the one that hangs and those behind it have failed.
	if *m.window.Received != 450 || m.window.Failed != 150 || m.window.NotOffered != 0 {
		t.Errorf("%+v; want 450 received, 150 failed", m.window)
	}
}

func TestEveryConnectionMayBlockAndNoMessageIsSentTwiceOrOutOfOrder(t *testing.T) {
	p := testPlan(4000, 1200)
	p.Producers, p.Connections, p.Topics = 6, 3, []string{"a", "b", "c", "d", "e", "f"}
	var sends sync.Map
	var twice atomic.Int64
	m := measure(t, p, &stub{onSend: func(msg *broker.Message) error {
		if _, again := sends.LoadOrStore(msg.Index, true); again {
			twice.Add(1)
		}
		if msg.Index%97 == 0 {
			time.Sleep(8 * time.Millisecond)
		}
		return nil
	}}, nil)
	// Where the machine starves the stub's slots, messages are not offered, which is not what is asked here.
	if offered := 4800 - m.window.NotOffered; *m.window.Received != offered || offered == 0 || twice.Load() != 0 || *m.window.Reordered != 0 || m.window.Duplicated != 0 {
		t.Errorf("%+v, sent twice %d; want all that were offered, in order", m.window, twice.Load())
	}
}
