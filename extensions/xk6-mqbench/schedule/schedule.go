// Package schedule computes when each message is intended, to the nanosecond as in TypeScript (runner/plan/offset.ts).
package schedule

import (
	"fmt"
	"math/bits"
)

// Schedule is an open load: message i, from 0 and warm-up included, is intended at T0 + Offset(i). Safe for concurrent use.
type Schedule interface {
	// Offset of message i in ns since T0. It never decreases. i must not be negative.
	Offset(i int64) int64
	// Before is the number of messages with Offset(i) < ns.
	Before(ns int64) int64
}

// Rate is Messages per PerNs nanoseconds, an exact ratio.
type Rate struct {
	Messages int64 `json:"messages"`
	PerNs    int64 `json:"perNs"`
}

// Piece is a part of a Stages schedule: the rate goes from From to To in a straight line.
type Piece struct {
	DurationNs int64 `json:"durationNs"`
	From       Rate  `json:"from"`
	To         Rate  `json:"to"`
}

// Shape is the part of plan.json's schedule that determines the intended times.
type Shape struct {
	// Kind is "constant", "poisson" or "stages". A "closed" load has no schedule.
	Kind string `json:"kind"`
	// Rate of a constant schedule, mean rate of a poisson one. stages ignore it.
	Rate   *Rate   `json:"rate"`
	Seed   uint64  `json:"seed"`
	Pieces []Piece `json:"pieces"`
}

// Of makes the schedule of a shape.
func Of(s Shape) (Schedule, error) {
	switch s.Kind {
	case "constant", "poisson":
		if s.Rate == nil {
			return nil, fmt.Errorf("schedule: %s has no rate", s.Kind)
		}
		if s.Kind == "constant" {
			return New(s.Rate.Messages, s.Rate.PerNs)
		}
		return NewPoisson(*s.Rate, s.Seed)
	case "stages":
		return NewStages(s.Pieces)
	}
	return nil, fmt.Errorf("schedule: kind must be constant, poisson or stages, got %q", s.Kind)
}

// Constant is a rate at equal distances. The ratio is exact, so there is no drift.
type Constant Rate

// New checks the ratio.
func New(messages, perNs int64) (Constant, error) {
	rate := Rate{messages, perNs}
	return Constant(rate), rate.check()
}

// Offset is floor(i * PerNs / Messages), computed with 128 bits. The result must fit 63 bits (292 years).
func (c Constant) Offset(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), uint64(c.PerNs))
	offset, _ := bits.Div64(hi, lo, uint64(c.Messages))
	return int64(offset)
}

// Before is ceil(ns * Messages / PerNs).
func (c Constant) Before(ns int64) int64 {
	if ns <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(ns), uint64(c.Messages))
	lo, carry := bits.Add64(lo, uint64(c.PerNs)-1, 0)
	n, _ := bits.Div64(hi+carry, lo, uint64(c.PerNs))
	return int64(n)
}

// --- internal ---

func (r Rate) check() error {
	if r.Messages <= 0 || r.PerNs <= 0 {
		return fmt.Errorf("schedule: rate %d messages per %d ns: both must be above 0", r.Messages, r.PerNs)
	}
	return nil
}

// checkIdle is check for a rate that may be 0.
func (r Rate) checkIdle() error {
	if r.Messages == 0 && r.PerNs > 0 {
		return nil
	}
	return r.check()
}
