package pacer

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestWaitUntilNeverReturnsEarly(t *testing.T) {
	c := clock.New()
	var stop atomic.Bool
	p := New(c.Now, &stop, int64(300*time.Microsecond))
	defer p.Close()
	moment := c.Now()
	for range 500 {
		moment += int64(300 * time.Microsecond)
		if now := p.WaitUntil(moment); now < moment {
			t.Fatalf("WaitUntil(%d) returned at %d", moment, now)
		}
	}
}

func TestAMomentInThePastIsNotWaitedFor(t *testing.T) {
	c := clock.New()
	var stop atomic.Bool
	p := New(c.Now, &stop, int64(time.Millisecond))
	defer p.Close()
	if now := p.WaitUntil(-1); now < 0 {
		t.Errorf("WaitUntil(-1) = %d", now)
	}
}

func TestAStopEndsALongWait(t *testing.T) {
	c := clock.New()
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := New(c.Now, &stop, int64(time.Second))
		defer p.Close()
		p.WaitUntil(c.Now() + int64(time.Hour))
	}()
	time.Sleep(50 * time.Millisecond)
	stop.Store(true)
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the wait goes on after the stop")
	}
}

func TestSpinningStaysWithinItsShareOfACore(t *testing.T) {
	if got := spinBudget(int64(50 * time.Microsecond)); got != 0 {
		t.Errorf("below 100 us between messages the pacer spins for %d ns; want 0", got)
	}
	gap := int64(300 * time.Microsecond)
	if got := spinBudget(gap); runtime.NumCPU() < fewCores && got > gap/5 {
		t.Errorf("on %d cores the pacer spins %d ns of %d", runtime.NumCPU(), got, gap)
	}
}

func TestARenewedPacerGoesOnInAnotherThread(t *testing.T) {
	c := clock.New()
	var stop atomic.Bool
	first := New(c.Now, &stop, int64(time.Millisecond))
	defer first.Close()
	done := make(chan *Pacer)
	go func() {
		second := first.Renew()
		defer second.Close()
		moment := c.Now() + int64(5*time.Millisecond)
		if now := second.WaitUntil(moment); now < moment {
			t.Errorf("WaitUntil(%d) returned at %d", moment, now)
		}
		done <- second
	}()
	if second := <-done; second.LeadNs() != first.LeadNs() {
		t.Errorf("the lead is %d ns, that of the first one %d", second.LeadNs(), first.LeadNs())
	}
}

func TestSleepNeverReturnsEarly(t *testing.T) {
	c := clock.New()
	for _, us := range []int64{-5, 0, 50, 700, 3000} {
		moment := c.Now() + us*1000
		Sleep(c.Now, moment)
		if now := c.Now(); now < moment {
			t.Errorf("Sleep until %d us from now returned %d us early", us, (moment-now)/1000)
		}
	}
}
