//go:build !race

package generator

import (
	"runtime"
	"testing"
)

// 3 million messages in 30 s are sent and received here; the first subscriber of two gets nothing.
func TestWhatIsKeptDoesNotGrowWithTheMessages(t *testing.T) {
	for words, change := range map[string]func(*Plan){
		"one client": func(*Plan) {},
		"one of two clients": func(p *Plan) {
			p.Connections, p.Producers, p.Topics, p.Client.Count = 2, 2, []string{"a", "b"}, 2
		},
		"a fan-out in which one subscriber gets nothing": func(p *Plan) {
			p.Pattern, p.Subscriptions, p.ConsumerConnections, p.TimeoutNs = fanOut, 2, 2, 300*ms
		},
	} {
		p := testPlan(100_000, 10_000)
		p.DrainNs, p.TimeoutNs = 300*ms, 300*ms
		change(p)
		g := mirrored(t, p, p.subscribers()-1)
		s := g.senders[0]
		heap := func() int64 {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return int64(stats.HeapAlloc)
		}
		before, most, n := heap(), int64(0), 0
		for w := g.share.from(0); w.i() < p.Schedule.Messages; w.next() {
			sentNs := g.schedule.Offset(w.i())
			s.transmit(g.message(w.producer(), w.seq), sentNs, 0)
			if n++; n%500 == 0 {
				s.expire(sentNs)
			}
			if n%100_000 == 0 {
				for _, second := range g.recorder.Numbers() {
					g.recorder.Take(second)
				}
			}
			if n%250_000 == 0 {
				most = max(most, heap()-before)
			}
		}
		if got := g.recorder.Totals().Received.All; got != int64(n) {
			t.Errorf("%s: %d of %d messages were received", words, got, n)
		}
		if most > 16<<20 {
			t.Errorf("%s: %d MB are kept of %d messages", words, most>>20, n)
		}
		runtime.KeepAlive(g)
	}
}
