// Package schedule says when each message is intended, before the run and independent of it.
package schedule

import (
	"fmt"
	"math/bits"
)

// Constant is an open-loop schedule of Messages per PerNs nanoseconds: message i is intended at T0 + Offset(i).
// The ratio is exact, so that nothing drifts. TypeScript has the same function (runner/plan/offset.ts),
// and both are held to the same table.
type Constant struct {
	Messages uint64
	PerNs    uint64
}

// New checks the ratio.
func New(messages, perNs int64) (Constant, error) {
	if messages <= 0 || perNs <= 0 {
		return Constant{}, fmt.Errorf("schedule: rate %d messages per %d ns: both must be above 0", messages, perNs)
	}
	return Constant{Messages: uint64(messages), PerNs: uint64(perNs)}, nil
}

// Offset is floor(i * PerNs / Messages) in nanoseconds since T0, computed with 128 bits. i must not be negative,
// and the result must fit 63 bits (292 years).
func (c Constant) Offset(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), c.PerNs)
	offset, _ := bits.Div64(hi, lo, c.Messages)
	return int64(offset)
}

// Before is the number of messages with Offset(i) < ns: ceil(ns * Messages / PerNs).
func (c Constant) Before(ns int64) int64 {
	if ns <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(ns), c.Messages)
	lo, carry := bits.Add64(lo, c.PerNs-1, 0)
	n, _ := bits.Div64(hi+carry, lo, c.PerNs)
	return int64(n)
}
