package pacer

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestWaitUntilNeverReturnsEarly(t *testing.T) {
	c := clock.New()
	var stop atomic.Bool
	p := New(c.Now, &stop, int64(300*time.Microsecond), Pacing{})
	defer p.Close()
	moment := c.Now()
	for range 500 {
		moment += int64(300 * time.Microsecond)
		if now := p.WaitUntil(moment); now < moment {
			t.Fatalf("WaitUntil(%d) returned at %d", moment, now)
		}
	}
}

func TestAStopEndsALongWait(t *testing.T) {
	c := clock.New()
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := New(c.Now, &stop, int64(time.Second), Pacing{})
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

func TestTheMachineDecidesHowThePacerWaits(t *testing.T) {
	us := int64(time.Microsecond)
	const whole, fifth, naps, sleeps = "spins", "a fifth", "naps", "sleeps"
	for _, c := range []struct {
		mode  string
		apart bool
		cores int
		gapUs int64
		want  string
	}{
		{"auto", false, 1, 333, fifth},
		{"auto", false, 2, 333, fifth},
		{"auto", false, 2, 50, sleeps},
		{"auto", false, 2, 10, naps},
		{"auto", false, 3, 333, fifth},
		{"auto", false, 4, 333, whole},
		{"auto", false, 4, 50, whole},
		{"auto", false, 4, 10, naps},
		{"auto", false, 5, 10, whole},
		{"auto", true, 1, 333, fifth},
		{"auto", true, 2, 333, whole},
		{"auto", true, 2, 50, whole},
		{"auto", true, 2, 10, naps},
		{"auto", true, 3, 10, whole},
		{"", true, 2, 50, whole},
		{"spin", false, 1, 10, whole},
		{"sleep", true, 64, 333, sleeps},
		{"sleep", true, 64, 10, naps},
	} {
		spinNs, napNs := limits(Pacing{Mode: c.mode, Apart: c.apart}, c.cores, c.gapUs*us)
		got := sleeps
		switch {
		case spinNs == math.MaxInt64:
			got = whole
		case spinNs > 0 && spinNs <= c.gapUs*us/5:
			got = fifth
		case napNs > 0:
			got = naps
		}
		if got != c.want {
			t.Errorf("%s, apart %t, %d cores, %d us: %s (%d, %d); want %s", c.mode, c.apart, c.cores, c.gapUs, got, spinNs, napNs, c.want)
		}
	}
}

func TestCoresAreSharedWithOtherLoads(t *testing.T) {
	for _, c := range []struct {
		cores, loads int
		spins        bool
	}{
		{2, 1, true}, {2, 2, false}, {3, 2, false}, {4, 2, true}, {5, 3, false}, {6, 3, true},
	} {
		spinNs, _ := limits(Pacing{Apart: true, Loads: c.loads}, c.cores, 333_000)
		if spins := spinNs == math.MaxInt64; spins != c.spins {
			t.Errorf("%d loads on %d cores: spins %t, want %t", c.loads, c.cores, spins, c.spins)
		}
	}
}

func TestARenewedPacerGoesOnInAnotherThread(t *testing.T) {
	c := clock.New()
	var stop atomic.Bool
	first := New(c.Now, &stop, int64(time.Millisecond), Pacing{})
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
	if second := <-done; second.leadNs != first.leadNs {
		t.Errorf("the lead is %d ns, that of the first one %d", second.leadNs, first.leadNs)
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
