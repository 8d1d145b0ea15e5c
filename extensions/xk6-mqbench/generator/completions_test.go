package generator

import (
	"sync"
	"testing"
	"time"
)

func TestAnOutageShowsAsPiecesOf10MsWithoutCompletions(t *testing.T) {
	const outage = 400 * time.Millisecond
	for _, acks := range []bool{true, false} {
		p := testPlan(2000, 2200)
		p.Acks = acks
		var mu sync.Mutex
		var stamps []int64
		s := &stub{acks: acks, stamped: func(acknowledged bool, ns int64) {
			if acknowledged == acks {
				mu.Lock()
				stamps = append(stamps, ns)
				mu.Unlock()
			}
		}}
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
		var g *Generator
		onNew = func(made *Generator) { g = made }
		m := measure(t, p, s, nil)
		onNew = nil
		counts := map[int64]int64{}
		for _, ns := range stamps {
			counts[(ns-g.t0)/(10*ms)]++
		}
		longest, run := 0, 0
		for piece := range int64(220) {
			var got int64
			if bins := m.completions[piece/100]; bins != nil {
				got = bins[piece%100]
			}
			if got != counts[piece] {
				t.Errorf("acks %v: %d completions in piece %d; want %d", acks, got, piece, counts[piece])
			}
			if run++; got > 0 {
				run = 0
			}
			longest = max(longest, run)
		}
		if m.completed() != 4400 {
			t.Errorf("acks %v: %d completions; want 4400", acks, m.completed())
		}
		// 39 or 40; a generator that was late itself takes some of them.
		m.between("empty pieces", int64(longest), 10, 220)
	}
}
