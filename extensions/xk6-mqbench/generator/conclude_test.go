package generator

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestCopiesThatComeWhenEveryMessageHasSettledCountWhereALineAsksForThem(t *testing.T) {
	for words, c := range map[string]struct {
		later   time.Duration
		of      func(i int64) bool
		sla     []SLALine
		drainNs int64
		copies  int64
	}{
		"the last message, again 20 ms later": {20 * time.Millisecond, only(499), []SLALine{{"duplicated"}}, 30_000 * ms, 1},
		"all messages, again 500 ms later":    {500 * time.Millisecond, every(1, 0), []SLALine{{""}, {"redelivered"}}, 30_000 * ms, 500},
		"none, and no longer than the drain":  {0, only(0), []SLALine{{"duplicated"}}, 300 * ms, 0},
	} {
		t.Run(words, func(t *testing.T) {
			p := testPlan(500, 1000)
			p.DrainNs, p.SLA = c.drainNs, c.sla
			m := measure(t, p, &stub{later: func(i int64) time.Duration {
				if c.of(i) {
					return c.later
				}
				return 0
			}}, nil)
			m.has("duplicated %d received 500", c.copies)
			if m.totals.LookedNs == nil {
				t.Fatal("nobody says how long was looked")
			}
			if looked := *m.totals.LookedNs; (looked >= lookNs) != (c.drainNs > lookNs) {
				t.Errorf("looked for %d ms, with a drain of %d ms", looked/ms, c.drainNs/ms)
			}
			// Looking is no part of the run.
			m.between("end", m.totals.EndNs, 990*ms, 990*ms+lookNs)
		})
	}
}

func TestATimeInWhichTheMachineWasSuspendedIsTold(t *testing.T) {
	for _, tells := range []bool{true, false} {
		// It had slept for an hour before the run, and sleeps for 90 s within it.
		var slept atomic.Int64
		slept.Store(int64(time.Hour))
		m := measure(t, testPlan(1000, 200), &stub{
			onNew:   func(g *Generator) { g.asleep = func() (int64, bool) { return slept.Load(), tells } },
			receive: at(100, func() { slept.Add(int64(90 * time.Second)) }),
		}, nil)
		if got := m.totals.SuspendedNs; (got != nil) != tells || tells && *got != int64(90*time.Second) {
			t.Errorf("suspended for %v ns, told %v; want 90 s, and nothing on a system that does not know", got, tells)
		}
	}
}

func TestAMachineThatStaysAwakeIsNotSuspended(t *testing.T) {
	before, ok := clock.Asleep()
	if ok != (runtime.GOOS == "linux") {
		t.Fatalf("known: %v on %s", ok, runtime.GOOS)
	}
	time.Sleep(20 * time.Millisecond)
	if after, _ := clock.Asleep(); after-before > int64(5*time.Millisecond) || before-after > int64(5*time.Millisecond) {
		t.Errorf("asleep for %d ns within 20 ms", after-before)
	}
}
