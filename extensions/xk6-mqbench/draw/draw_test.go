package draw

import (
	"encoding/json"
	"math"
	"math/big"
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
		// Bins of the value, of its lowest bits, which come from the second hash, and of pairs of neighbours.
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
