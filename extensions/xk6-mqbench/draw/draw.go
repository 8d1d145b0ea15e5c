// Package draw gives random numbers by index. Number i of a seed and a purpose is always the same, does not depend on other numbers, and
// is the same in TypeScript (runner/plan/draw.ts), bit for bit. So a plan fixes everything about a run.
package draw

import (
	"math"
	"math/bits"
)

// Source is a row of random numbers for one seed and purpose. It is a value without state.
type Source struct{ a, b, c, d uint32 }

// Purposes keep the rows of one seed apart, which lets a plan use one seed for all of them.
const (
	Arrivals uint32 = 1 + iota
	Keys
	Work
	Sizes
)

// New derives the four keys of a row.
func New(seed uint64, purpose uint32) Source {
	key := mix(mix(mix(purpose)^uint32(seed)) ^ uint32(seed>>32))
	next := func() uint32 {
		key = mix(key + 0x9e3779b9)
		return key
	}
	return Source{next(), next(), next(), next()}
}

// Uniform is number i of the row, in (0, 1]: a multiple of 2^-53, all of them equally likely.
func (s Source) Uniform(i int64) float64 { return float64(s.bits53(i)+1) * (1.0 / (1 << 53)) }

// Below is number i of the row as an integer in [0, n), n <= 2^32. No value is more likely than another by more than n / 2^53.
func (s Source) Below(i int64, n uint32) uint32 {
	high, _ := bits.Mul64(s.bits53(i)<<11, uint64(n))
	return uint32(high)
}

// Exponential is number i of the row, exponentially distributed with mean 1: -ln(Uniform), 0 .. 36.7.
func (s Source) Exponential(i int64) float64 { return minusLn(s.bits53(i) + 1) }

// --- internal ---

// bits53 is a whole number below 2^53: two rounds of a 32-bit hash with a key before each, one for the high 27 bits and one for the low
// 26. The upper 32 bits of i go into the second key.
func (s Source) bits53(i int64) uint64 {
	low, high := uint32(i), uint32(uint64(i)>>32)
	if high != 0 {
		high = mix(high)
	}
	x := mix(mix(low^s.a) ^ s.b ^ high)
	y := mix(mix(low^s.c) ^ s.d ^ high)
	return uint64(x>>5)<<26 | uint64(y>>6)
}

// mix is lowbias32 of Chris Wellons' hash-prospector (constants of issue 19, bias 0.107). It is a bijection of 32 bits, and each bit of
// the input changes each bit of the output half of the time.
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x21f0aaad
	x ^= x >> 15
	x *= 0xd35a2d97
	x ^= x >> 15
	return x
}

// minusLn is -ln(n / 2^53) for n in [1, 2^53], with the method and the coefficients of FreeBSD's e_log.c: the error is below one unit in
// the last place. Library logarithms differ there between languages and processors. float64() around a product prevents its
// fusion with the following sum.
func minusLn(n uint64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
		l1    = 6.666666666666735130e-01
		l2    = 3.999999999940941908e-01
		l3    = 2.857142874366239149e-01
		l4    = 2.222219843214978396e-01
		l5    = 1.818357216161805012e-01
		l6    = 1.531383769920937332e-01
		l7    = 1.479819860511658591e-01
	)
	// n / 2^53 = 2^k * (1 + f), with 1 + f between the square roots of 1/2 and 2.
	exponent := bits.Len64(n) - 1
	m := float64(n) * math.Float64frombits(uint64(1023-exponent)<<52)
	k := float64(exponent - 53)
	if m > math.Sqrt2 {
		m *= 0.5
		k++
	}
	f := m - 1
	s := f / (2 + f)
	s2 := s * s
	s4 := s2 * s2
	t1 := s2 * (l1 + float64(s4*(l3+float64(s4*(l5+float64(s4*l7))))))
	t2 := s4 * (l2 + float64(s4*(l4+float64(s4*l6))))
	r := float64(t1) + float64(t2)
	half := 0.5 * f * f
	inner := float64(s*(float64(half)+r)) + float64(k*ln2Lo)
	return (float64(half) - inner) - f - float64(k*ln2Hi)
}
