package draw

import (
	"encoding/json"
	"math"
	"math/big"
	"math/bits"
	"os"
	"testing"
)

func TestTheRowIsTheOneOfTypeScript(t *testing.T) {
	text, err := os.ReadFile("../../../runner/plan/offset.table.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Exponential []struct {
			Seed  uint64
			I     int64
			Value float64
		}
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Exponential) < 20 {
		t.Fatalf("the table has %d rows, that is no table", len(table.Exponential))
	}
	for _, r := range table.Exponential {
		if got := New(r.Seed, Arrivals).Exponential(r.I); got != r.Value {
			t.Errorf("number %d of seed %d = %v; want %v", r.I, r.Seed, got, r.Value)
		}
	}
}

func TestTheLogarithmIsOffByLessThanOneInTheLastPlace(t *testing.T) {
	check := func(n uint64) {
		got, want := minusLn(n), -math.Log(float64(n)/(1<<53))
		if n == 1<<53 {
			if got != 0 {
				t.Errorf("-ln(1) = %v", got)
			}
			return
		}
		if math.Abs(got-want) > 2*(math.Nextafter(want, 100)-want) {
			t.Fatalf("-ln(%d / 2^53) = %v; want %v", n, got, want)
		}
	}
	row := New(1, 99)
	for i := range int64(300_000) {
		check(row.bits53(i) + 1)
		check(row.bits53(i)>>(i%53) + 1)
	}
	for k := range 53 {
		for _, d := range []int64{-2, -1, 0, 1, 2} {
			if n := int64(1)<<k + d; n > 0 {
				check(uint64(n))
			}
		}
	}
	check(1 << 53)
	check(1<<53 - 1)
	// At the square root of a half, where the halves of the interval meet.
	root, _ := new(big.Float).SetFloat64(math.Sqrt2 / 2 * (1 << 53)).Uint64()
	for d := range uint64(100) {
		check(root - 50 + d)
	}
}

func TestUniformNumbersFillTheIntervalEvenly(t *testing.T) {
	const n, bins = 1 << 20, 256
	for _, seed := range []uint64{0, 1, 1 << 40} {
		row := New(seed, Keys)
		// Of the value, and of its lowest bits, which come from the second hash; of neighbours together.
		var values, low, pairs [bins]int
		for i := range int64(n) {
			u := row.Uniform(i)
			if u <= 0 || u > 1 {
				t.Fatalf("number %d is %v", i, u)
			}
			values[min(bins-1, int(u*bins))]++
			low[row.bits53(i)%bins]++
			pairs[row.bits53(i)>>49<<4|row.bits53(i+1)>>49]++
		}
		for what, counts := range map[string][bins]int{"value": values, "low bits": low, "neighbours": pairs} {
			sum := 0.0
			for _, c := range counts {
				d := float64(c) - n/bins
				sum += d * d / (n / bins)
			}
			// Chi-square of 255 degrees of freedom: 255 +- 22.6; 4.5 standard deviations.
			if sum > 357 || sum < 153 {
				t.Errorf("seed %d: chi-square of the %s is %.0f; 255 is even", seed, what, sum)
			}
		}
	}
}

func TestEachBitOfIndexAndSeedTurnsHalfOfTheResult(t *testing.T) {
	const n = 2000
	turned := func(name string, bit int, other func(i int64) uint64, row Source) {
		sum := 0
		for i := range int64(n) {
			sum += bits.OnesCount64(row.bits53(i*1_000_003) ^ other(i*1_000_003))
		}
		if mean := float64(sum) / n; math.Abs(mean-26.5) > 0.6 {
			t.Errorf("bit %d of the %s turns %.2f of 53 bits", bit, name, mean)
		}
	}
	row := New(77, Arrivals)
	for bit := range 40 {
		turned("index", bit, func(i int64) uint64 { return row.bits53(i ^ 1<<bit) }, row)
	}
	for bit := range 53 {
		other := New(77^1<<bit, Arrivals)
		turned("seed", bit, other.bits53, row)
	}
	turned("purpose", 0, New(77, Work).bits53, row)
}

func TestBelowIsEven(t *testing.T) {
	row := New(5, Keys)
	const n, per = 7, 100_000
	var counts [n]int
	for i := range int64(n * per) {
		counts[row.Below(i, n)]++
	}
	for k, c := range counts {
		if math.Abs(float64(c)-per) > 5*math.Sqrt(per) {
			t.Errorf("%d is drawn %d times of %d; want about %d", k, c, n*per, per)
		}
	}
}

func BenchmarkExponential(b *testing.B) {
	row := New(1, Arrivals)
	sum := 0.0
	for i := range int64(b.N) {
		sum += row.Exponential(i)
	}
	_ = sum
}
