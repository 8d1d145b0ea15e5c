package generator

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

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
	if w := m.window; *w.Acked != 495 || w.Unknown != 5 || len(s.subscriptions) != 0 {
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
	var f flight
	m := measure(t, p, &stub{acks: true, onSend: f.off, ack: func(int64) (time.Duration, bool) { f.flying.Add(-1); return 0, true }}, nil)
	if *m.window.Acked != 800 || f.highest.Load() > 4 {
		t.Errorf("acked %d, in flight %d; want 800, at most 3 and the one being sent", *m.window.Acked, f.highest.Load())
	}
}

// The checksum of a MiB takes 100 us. After the stamp of the send call that would be in service.
func TestABodyIsSummedBeforeItsMessageIsStamped(t *testing.T) {
	g := sharedConnection(t, nil)
	g.plan.Message.Checksum = true
	for _, change := range []byte{0, 1} {
		m := g.message(0, 0)
		m.Payload[len(m.Payload)-envelope.ChecksumBytes-1] ^= change
		g.stamp(m)
		if got := envelope.Intact(m.Payload); got != (change == 0) {
			t.Errorf("a body that changes by %d before the stamp: intact is %v", change, got)
		}
	}
}
