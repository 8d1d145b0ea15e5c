package pacer

import (
	"math"

	"golang.org/x/sys/unix"
)

// timer sleeps on CLOCK_MONOTONIC to an absolute time, with the smallest slack that the kernel offers.
type timer struct {
	// anchorNs is CLOCK_MONOTONIC when the run's clock was 0.
	anchorNs int64
}

func newTimer(now func() int64) timer {
	// The kernel would add its default slack of 50 us to every sleep of this thread.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	// Subtle: time passes between the two readings, a thread's turn at most. The least of some is next to nothing too long.
	anchorNs := int64(math.MaxInt64)
	for range 3 {
		var ts unix.Timespec
		ns := now()
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		anchorNs = min(anchorNs, ts.Nano()-ns)
	}
	return timer{anchorNs}
}

func (timer) name() string { return "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)" }

// sleepUntil sleeps until time t of the run's clock. The time is absolute, so a sleep that a signal interrupts simply continues.
func (t timer) sleepUntil(ns int64) {
	ts := unix.NsecToTimespec(ns + t.anchorNs)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}
