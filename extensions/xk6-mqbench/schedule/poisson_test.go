//go:build !race

package schedule

import (
	"math"
	"slices"
	"testing"
)

// gaps of the first n messages, in units of the mean gap.
func gaps(p *Poisson, n int64) []float64 {
	all := make([]float64, n)
	last := int64(0)
	for i := range n {
		at := p.Offset(i)
		all[i] = float64(at-last) / p.meanNs
		last = at
	}
	return all
}

// Bounds are of 4 standard errors and more: fixed seeds that passed once pass for ever.
func TestGapsHaveTheMeanAndTheVarianceOfAnExponential(t *testing.T) {
	const n = 400_000
	for seed := range uint64(5) {
		sum, squares := 0.0, 0.0
		for _, g := range gaps(poisson(t, 3000, 1e9, seed), n) {
			sum += g
			squares += (g - 1) * (g - 1)
		}
		// Standard errors: 1/sqrt(n) of the mean, sqrt(8/n) of the mean square deviation.
		if mean := sum / n; math.Abs(mean-1) > 4/math.Sqrt(n) {
			t.Errorf("seed %d: the mean gap is %.5f of what the rate says", seed, mean)
		}
		if variance := squares / n; math.Abs(variance-1) > 4*math.Sqrt(8.0/n) {
			t.Errorf("seed %d: the variance is %.5f; an exponential has 1", seed, variance)
		}
	}
}

func TestGapsPassKolmogorovAndSmirnov(t *testing.T) {
	const n = 200_000
	for seed := range uint64(5) {
		sorted := gaps(poisson(t, 3000, 1e9, seed), n)
		slices.Sort(sorted)
		distance := 0.0
		for i, g := range sorted {
			expected := 1 - math.Exp(-g)
			distance = max(distance, math.Abs(expected-float64(i)/n), math.Abs(expected-float64(i+1)/n))
		}
		// 1.95 is exceeded by one in a thousand samples of a true exponential.
		if d := distance * math.Sqrt(n); d > 1.95 {
			t.Errorf("seed %d: the distribution of gaps is %.2f / sqrt(n) away from an exponential", seed, d)
		}
	}
}

func TestGapsDoNotDependOnTheirNeighbours(t *testing.T) {
	const n = 400_000
	all := gaps(poisson(t, 3000, 1e9, 9), n)
	for _, distance := range []int{1, 2, 3, 17, chunkMessages} {
		sum := 0.0
		for i := distance; i < n; i++ {
			sum += (all[i] - 1) * (all[i-distance] - 1)
		}
		if r := sum / n; math.Abs(r) > 4/math.Sqrt(n) {
			t.Errorf("gaps %d apart are correlated: %.5f", distance, r)
		}
	}
	// Counts in equal stretches of time have the variance of their mean, which no regular arrivals have.
	p := poisson(t, 3000, 1e9, 9)
	const stretches, eachNs = 2000, 20_000_000 // 60 messages
	sum, squares := 0.0, 0.0
	for k := range int64(stretches) {
		count := float64(p.Before((k+1)*eachNs) - p.Before(k*eachNs))
		sum += count
		squares += (count - 60) * (count - 60)
	}
	if ratio := squares / sum; math.Abs(ratio-1) > 4*math.Sqrt(2.0/stretches) {
		t.Errorf("counts per 20 ms have %.3f times the variance of Poisson's", ratio)
	}
}

func TestSeedsGiveSchedulesThatHaveNothingInCommon(t *testing.T) {
	const n = 200_000
	for _, seeds := range [][2]uint64{{0, 1}, {1, 2}, {1, 1 << 32}, {5, 5 + 1<<52}} {
		a, b := gaps(poisson(t, 3000, 1e9, seeds[0]), n), gaps(poisson(t, 3000, 1e9, seeds[1]), n)
		sum := 0.0
		for i := range a {
			sum += (a[i] - 1) * (b[i] - 1)
		}
		if r := sum / n; math.Abs(r) > 4/math.Sqrt(n) {
			t.Errorf("gaps of seeds %v are correlated: %.5f", seeds, r)
		}
	}
}

func TestWholeNanosecondsDoNotShiftTheMean(t *testing.T) {
	// At 10 million/s a gap is 100 ns, and half a ns each would be half a percent.
	const n = 4_000_000
	p := poisson(t, 10_000_000, 1e9, 1)
	if mean := float64(p.Offset(n-1)) / n / 100; math.Abs(mean-1) > 4/math.Sqrt(n) {
		t.Errorf("the mean gap is %.5f of 100 ns", mean)
	}
}

func BenchmarkOffsetInOrder(b *testing.B) {
	constant, _ := New(3000, 1e9)
	stages, _ := NewStages([]Piece{
		{5e9, Rate{1000, 1e9}, Rate{1000, 1e9}}, {1e12, Rate{1000, 1e9}, Rate{50_000, 1e9}}, {1e12, Rate{50_000, 1e9}, Rate{10, 1e9}},
	})
	for name, s := range map[string]Schedule{"constant": constant, "poisson": poisson(b, 3000, 1e9, 1), "stages": stages} {
		b.Run(name, func(b *testing.B) {
			for i := range int64(b.N) {
				s.Offset(i)
			}
		})
	}
}

// The pacer, and receipts of messages that it sent half a million messages ago.
func BenchmarkOffsetsFarApart(b *testing.B) {
	p := poisson(b, 3000, 1e9, 1)
	for i := range int64(b.N) {
		p.Offset(512*chunkMessages + i)
		p.Offset(i)
	}
}

// A straggler: a message of a chunk that is not kept any more.
func BenchmarkOffsetOfAnOldMessage(b *testing.B) {
	p := poisson(b, 3000, 1e9, 1)
	const chunks = 1000
	p.Offset(chunks * chunkMessages)
	b.ResetTimer()
	for i := range int64(b.N) {
		p.Offset((i * 7919 % chunks) * chunkMessages)
	}
}
