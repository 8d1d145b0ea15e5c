package keys

import (
	"math"
	"testing"
)

func keys(t testing.TB, distribution string, count int, seed uint64) *Keys {
	k, err := New(distribution, count, seed)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// chiSquare of n draws against probabilities, in standard deviations from its mean. Each key should be drawn at least 10 times.
func chiSquare(k *Keys, likely []float64, n int64) float64 {
	drawn := make([]float64, len(likely))
	for i := range n {
		drawn[k.Number(i)]++
	}
	sum, freedom := 0.0, float64(len(likely)-1)
	for key, p := range likely {
		d := drawn[key] - p*float64(n)
		sum += d * d / (p * float64(n))
	}
	return (sum - freedom) / math.Sqrt(2*freedom)
}

func TestKeysAreAsLikelyAsTheirDistributionSays(t *testing.T) {
	for distribution, weight := range map[string]func(key int) float64{
		"random": func(int) float64 { return 1 },
		"zipf":   func(key int) float64 { return math.Exp(-0.99 * math.Log(float64(key+1))) },
	} {
		for seed := range uint64(3) {
			for _, count := range []int{2, 10, 1000, 10_000} {
				likely := make([]float64, count)
				sum := 0.0
				for key := count - 1; key >= 0; key-- {
					likely[key] = weight(key)
					sum += likely[key]
				}
				for key := range likely {
					likely[key] /= sum
				}
				if z := chiSquare(keys(t, distribution, count, seed), likely, 1_000_000); math.Abs(z) > 4.5 {
					t.Errorf("%d %s keys of seed %d: chi-square is %.1f standard deviations off", count, distribution, seed, z)
				}
			}
		}
	}
}

func TestAKeyIsAFunctionOfSeedAndMessageAloneAndCostsNoMemory(t *testing.T) {
	for _, distribution := range []string{"random", "zipf"} {
		one, same, other := keys(t, distribution, 1000, 1), keys(t, distribution, 1000, 1), keys(t, distribution, 1000, 2)
		first := make([]int64, 1000)
		for i := range first {
			first[i] = one.Number(int64(i))
		}
		differ := 0
		for i := int64(999); i >= 0; i-- {
			if same.Number(i) != first[i] {
				t.Errorf("%s: message %d has two keys", distribution, i)
			}
			if other.Number(i) != first[i] {
				differ++
			}
		}
		if differ < 900 {
			t.Errorf("%s: only %d of 1000 messages have another key with another seed", distribution, differ)
		}
		i := int64(0)
		if n := testing.AllocsPerRun(1000, func() { i++; one.Bytes(one.Number(i)) }); n != 0 {
			t.Errorf("%s: %v allocations for a key", distribution, n)
		}
	}
}

func TestTheBytesOfAKeyAreItsNumber(t *testing.T) {
	k := keys(t, "round-robin", 12_345, 0)
	for i, want := range map[int64]string{0: "k0", 1: "k1", 9: "k9", 10: "k10", 999: "k999", 12_344: "k12344", 12_345: "k0", 24_691: "k1"} {
		if got := string(k.Bytes(k.Number(i))); got != want {
			t.Errorf("message %d has key %q; want %q", i, got, want)
		}
	}
	// Appending to a key makes a copy, and does not change the next key.
	_ = append(k.Bytes(1), 'x')
	if got := string(k.Bytes(2)); got != "k2" {
		t.Errorf("key 2 has become %q", got)
	}
}

func TestWhatIsNoDistributionIsRefused(t *testing.T) {
	for _, wrong := range []struct {
		distribution string
		count        int
	}{{"latin", 10}, {"random", 0}, {"zipf", -1}, {"zipf", Most + 1}} {
		if _, err := New(wrong.distribution, wrong.count, 1); err == nil {
			t.Errorf("%d keys, %s: accepted", wrong.count, wrong.distribution)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	for _, distribution := range []string{"round-robin", "random", "zipf"} {
		k := keys(b, distribution, 100_000, 1)
		b.Run(distribution, func(b *testing.B) {
			for i := range int64(b.N) {
				k.Bytes(k.Number(i))
			}
		})
	}
}
