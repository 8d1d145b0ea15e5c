package generator

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestATimeInWhichTheMachineWasSuspendedIsTold(t *testing.T) {
	for _, tells := range []bool{true, false} {
		// It had slept for an hour before the run, and sleeps for 90 s within it.
		var slept atomic.Int64
		slept.Store(int64(time.Hour))
		onNew = func(g *Generator) {
			g.asleep = func() (int64, bool) { return slept.Load(), tells }
		}
		defer func() { onNew = nil }()
		m := measure(t, complete(testPlan(1000, 200)), &stub{receive: func(_ string, i int64) {
			if i == 100 {
				slept.Add(int64(90 * time.Second))
			}
		}}, nil)
		switch got := m.totals.SuspendedNs; {
		case !tells && got != nil:
			t.Errorf("suspended for %d ns; want nothing told on a system that does not know", *got)
		case tells && (got == nil || *got != int64(90*time.Second)):
			t.Errorf("suspended for %v ns; want 90 s", got)
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
