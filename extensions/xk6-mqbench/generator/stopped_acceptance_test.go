//go:build acceptance && unix

package generator

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// It stops itself inside send calls, which compute.
func TestAGeneratorThatIsStoppedInASendBlamesItself(t *testing.T) {
	for _, c := range []struct {
		every int64
		pause time.Duration
		// The least lag of the messages that became due in each stop. It begins a little late.
		lagNs int64
	}{
		{600, 400 * time.Millisecond, 3 * 40_000 * ms},
		{50, 20 * time.Millisecond, 30 * 100 * ms},
	} {
		for words, p := range map[string]*Plan{
			"one connection":                        roundTripPlan(1000, 2000, 1, 1),
			"several producers on two connections":  roundTripPlan(1000, 2000, 2, 6),
			"several producers, each behind a gate": gated(500, roundTripPlan(1000, 2000, 2, 6)),
		} {
			p.DrainNs = 30_000 * ms
			var m *measured
			for range 3 { // a machine that others use stops it too, and makes send calls long: one of three quiet times is enough
				m = measure(t, p, &stub{onSend: func(msg *broker.Message) error {
					if msg.Index%c.every == c.every/2 && msg.Index < 2000-c.every/2 {
						stopped(t, c.pause)
						for began := time.Now(); time.Since(began) < 5*time.Millisecond; { // it stops somewhere here
						}
					}
					return nil
				}}, nil)
				if m.metrics["queued"].Sum <= m.metrics["lag"].Sum/2 {
					break
				}
			}
			m.has("received 2000 notOffered 0")
			lag, queued := m.metrics["lag"].Sum, m.metrics["queued"].Sum
			if lag < c.lagNs || queued > lag/2 {
				t.Errorf("%s, stopped for %s: lag %d ms, queued %d ms; want most of it to be lag", words, c.pause, lag/ms, queued/ms)
			}
			if want := 1999 / c.every * c.pause.Nanoseconds() / 2; m.stoppedNs < want {
				t.Errorf("%s: stops of %d ms were written; want %d", words, m.stoppedNs/ms, want/ms)
			}
		}
	}
}
