package generator

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func TestAnOutageShowsAsPiecesOf10MsWithoutCompletions(t *testing.T) {
	const outage = 400 * time.Millisecond
	for _, acks := range []bool{true, false} {
		p := testPlan(2000, 2200)
		p.Acks = acks
		s := &stub{acks: acks}
		if acks {
			// Acknowledgements of the outage all come at its end, by their own stamps; receipts come as ever.
			s.ack = func(i int64) (time.Duration, bool) {
				if i >= 2000 && i < 2800 {
					return outage - time.Duration(i-2000)*500*time.Microsecond, true
				}
				return 0, true
			}
		} else {
			s.receive = func(_ string, i int64) {
				if i == 2000 {
					time.Sleep(outage)
				}
			}
		}
		m := measure(t, p, s, nil)
		longest, at, run := 0, 0, 0
		for piece := range 220 {
			bins := m.completions[int64(piece/100)]
			if bins != nil && bins[piece%100] > 0 {
				run = 0
				continue
			}
			if run++; run > longest {
				longest, at = run, piece-run+1
			}
		}
		// The pieces at both ends of it may hold some.
		m.between("empty pieces", int64(longest), 38, 200)
		m.between("the first of them", int64(at), 95, 125)
	}
}

func TestWhatClosedLoadsCompleteIsInPiecesAsWell(t *testing.T) {
	m := measure(t, closedPlan(3000, 2), &stub{onSend: func(*broker.Message) error {
		time.Sleep(500 * time.Microsecond)
		return nil
	}}, nil)
	if m.completed() != 3000 || len(m.completions) < 2 {
		t.Errorf("%d completions in %d seconds; want 3000 in several", m.completed(), len(m.completions))
	}
}
