package schedule

import "math/bits"

// Constant is Messages per PerNs nanoseconds at equal distances. The ratio is exact, so there is no drift.
type Constant struct {
	Messages uint64
	PerNs    uint64
}

var _ Schedule = Constant{}

// New checks the ratio.
func New(messages, perNs int64) (Constant, error) {
	if err := (Rate{messages, perNs}).check(); err != nil {
		return Constant{}, err
	}
	return Constant{Messages: uint64(messages), PerNs: uint64(perNs)}, nil
}

// Offset is floor(i * PerNs / Messages), computed with 128 bits. The result must fit 63 bits (292 years).
func (c Constant) Offset(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), c.PerNs)
	offset, _ := bits.Div64(hi, lo, c.Messages)
	return int64(offset)
}

// Before is ceil(ns * Messages / PerNs).
func (c Constant) Before(ns int64) int64 {
	if ns <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(ns), c.Messages)
	lo, carry := bits.Add64(lo, c.PerNs-1, 0)
	n, _ := bits.Div64(hi+carry, lo, c.PerNs)
	return int64(n)
}
