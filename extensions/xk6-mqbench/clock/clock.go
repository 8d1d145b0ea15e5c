// Package clock is the one clock of a run: monotonic, in nanoseconds, shared by pacer, stamps and drivers.
package clock

import "time"

// Clock counts monotonic nanoseconds from its creation. The zero value is not usable; make one with New.
type Clock struct {
	base time.Time
}

// New starts a clock at 0.
func New() *Clock { return &Clock{base: time.Now()} }

// Now is the time since New in nanoseconds. It costs one read of the system's clock and never goes back.
func (c *Clock) Now() int64 { return int64(time.Since(c.base)) }

// At is the reading of this clock when the machine's wall clock shows t, at their present difference.
func (c *Clock) At(t time.Time) int64 {
	now := time.Now()
	return int64(now.Sub(c.base)) + t.UnixNano() - now.UnixNano()
}

// Wall is the wall clock at the given reading of this clock.
func (c *Clock) Wall(ns int64) time.Time { return c.base.Add(time.Duration(ns)) }
