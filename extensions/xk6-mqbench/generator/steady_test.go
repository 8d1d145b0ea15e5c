package generator

import (
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
)

func TestAWindowThatOpensEarlierHasItsOwnMessagesOnly(t *testing.T) {
	// The order comes at message 700, and at 1700: then the second before the window has begun.
	for _, c := range []struct {
		at, opens int64
	}{{700, 2}, {1700, 3}} {
		p := testPlan(1000, 1000)
		p.Schedule.WarmupNs = 3000 * ms
		p.Schedule.Steady = &Steady{FromNs: 1000 * ms, ToNs: 3000 * ms}
		p.Limits = []Limit{{Metric: "response", LimitNs: 1}}
		var g atomic.Pointer[Generator]
		onNew = func(made *Generator) { g.Store(made) }
		m := measure(t, complete(p), &stub{receive: func(_ string, i int64) {
			if i == c.at {
				g.Load().OpenAt(1000*ms + 1) // no whole second
				g.Load().OpenAt(2000 * ms)
			}
		}}, nil)
		onNew = nil
		if m.state != "complete" || *m.totals.WindowStartNs != c.opens*1000*ms {
			t.Fatalf("told at message %d: %s, window from %d; want complete, from %d s", c.at, m.state, *m.totals.WindowStartNs, c.opens)
		}
		if m.warmup.Intended != c.opens*1000 || m.window.Intended != 1000 || m.metrics["response"].Count != 1000 || m.over[0] != 1000 {
			t.Errorf("told at message %d: %d before the window, %d in it, %d response times, %d over the limit; want %d, 1000, 1000, 1000",
				c.at, m.warmup.Intended, m.window.Intended, m.metrics["response"].Count, m.over[0], c.opens*1000)
		}
		for _, slow := range m.slowest {
			if slow.IntendedNs < c.opens*1000*ms {
				t.Errorf("told at message %d: %+v is of the warm-up", c.at, slow)
			}
		}
		log, err := os.ReadFile(filepath.Join(m.folder, "client-0.hlog"))
		if err != nil {
			t.Fatal(err)
		}
		starts := regexp.MustCompile(`(?m)^Tag=response,(\d)\.000`).FindAllSubmatch(log, -1)
		for _, s := range starts {
			if int64(s[1][0]-'0') != c.opens {
				t.Errorf("told at message %d: the second from %s s on is tagged as the window's", c.at, s[1])
			}
		}
		if len(starts) == 0 {
			t.Errorf("told at message %d: nothing is tagged as the window's", c.at)
		}
	}
}
