//go:build !linux

package pacer

import "time"

// timer is the Go runtime's own, which is the best portable one: macOS wakes within about 100 us, Windows within 0.5 to 1 ms. The lead
// from calibrate makes up for it by spinning.
type timer struct {
	now func() int64
}

func newTimer(now func() int64) timer { return timer{now} }

func (timer) name() string { return "time.Sleep" }

func (t timer) sleepUntil(ns int64) { time.Sleep(time.Duration(ns - t.now())) }
