package keys

import (
	"math"
	"sync"
	"testing"
)

func keys(t testing.TB, distribution string, count int, seed uint64) *Keys {
	k, err := New(distribution, count, seed)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// chiSquare of n draws against what is likely, in standard deviations from its mean. Keys that are to be drawn less than
// 10 times are counted as one.
func chiSquare(k *Keys, likely []float64, n int64) float64 {
	drawn := make([]float64, len(likely))
	for i := range n {
		drawn[k.Number(i)]++
	}
	sum, bins, restDrawn, restLikely := 0.0, 0.0, 0.0, 0.0
	add := func(drawn, expected float64) {
		sum += (drawn - expected) * (drawn - expected) / expected
		bins++
	}
	for key, p := range likely {
		if expected := p * float64(n); expected >= 10 {
			add(drawn[key], expected)
		} else {
			restDrawn, restLikely = restDrawn+drawn[key], restLikely+expected
		}
	}
	if restLikely > 0 {
		add(restDrawn, restLikely)
	}
	return (sum - (bins - 1)) / math.Sqrt(2*(bins-1))
}

func TestRoundRobinGivesEachKeyInTurn(t *testing.T) {
	k := keys(t, "round-robin", 3, 9)
	for i, want := range []int64{0, 1, 2, 0, 1, 2, 0} {
		if got := k.Number(int64(i)); got != want {
			t.Errorf("message %d has key %d; want %d", i, got, want)
		}
	}
}

func TestRandomKeysAreAllEquallyLikely(t *testing.T) {
	for seed := range uint64(3) {
		for _, count := range []int{2, 10, 1000, 4096} {
			likely := make([]float64, count)
			for n := range likely {
				likely[n] = 1 / float64(count)
			}
			if z := chiSquare(keys(t, "random", count, seed), likely, 500_000); math.Abs(z) > 4.5 {
				t.Errorf("%d keys of seed %d: chi-square is %.1f standard deviations off", count, seed, z)
			}
		}
	}
}

func TestZipfKeysAreAsLikelyAsTheFormulaSays(t *testing.T) {
	for seed := range uint64(3) {
		for _, count := range []int{2, 10, 1000, 100_000} {
			likely := make([]float64, count)
			sum := 0.0
			for n := count - 1; n >= 0; n-- {
				likely[n] = math.Exp(-0.99 * math.Log(float64(n+1)))
				sum += likely[n]
			}
			for n := range likely {
				likely[n] /= sum
			}
			if z := chiSquare(keys(t, "zipf", count, seed), likely, 1_000_000); math.Abs(z) > 4.5 {
				t.Errorf("%d keys of seed %d: chi-square is %.1f standard deviations off", count, seed, z)
			}
		}
	}
}

func TestTheAliasTableHoldsTheDistributionExactly(t *testing.T) {
	for _, count := range []int{1, 2, 3, 1000, 65_537} {
		likely := zipf(count)
		a := newAlias(likely)
		held := make([]float64, count)
		for k := range count {
			keep := min(1, a.keep[k])
			if int(a.other[k]) == k {
				keep = 1
			}
			held[k] += keep / float64(count)
			held[a.other[k]] += (1 - keep) / float64(count)
		}
		for k := range count {
			if math.Abs(held[k]-likely[k]) > 1e-12 {
				t.Fatalf("%d keys: key %d is drawn with %.15f; want %.15f", count, k, held[k], likely[k])
			}
		}
	}
}

func TestAKeyIsAFunctionOfSeedAndMessageAlone(t *testing.T) {
	for _, distribution := range []string{"random", "zipf"} {
		one, same, other := keys(t, distribution, 1000, 1), keys(t, distribution, 1000, 1), keys(t, distribution, 1000, 2)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for i := int64(9999); i >= 0; i-- {
					if one.Number(i) != same.Number(i) {
						t.Errorf("%s: message %d has two keys", distribution, i)
						return
					}
				}
			})
		}
		all.Wait()
		differ := 0
		for i := range int64(1000) {
			if one.Number(i) != other.Number(i) {
				differ++
			}
		}
		if differ < 900 {
			t.Errorf("%s: only %d of 1000 messages have another key with another seed", distribution, differ)
		}
	}
}

func TestTheBytesOfAKeyAreItsNumber(t *testing.T) {
	k := keys(t, "round-robin", 12_345, 0)
	for n, want := range map[int64]string{0: "k0", 1: "k1", 9: "k9", 10: "k10", 999: "k999", 12_344: "k12344"} {
		if got := string(k.Bytes(n)); got != want {
			t.Errorf("key %d is %q; want %q", n, got, want)
		}
	}
	// Who appends to a key gets a copy, not the next key.
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

func TestAKeyCostsNoMemory(t *testing.T) {
	for _, distribution := range []string{"round-robin", "random", "zipf"} {
		k := keys(t, distribution, 1000, 1)
		i := int64(0)
		if n := testing.AllocsPerRun(1000, func() { i++; k.Bytes(k.Number(i)) }); n != 0 {
			t.Errorf("%s: %v allocations for a key", distribution, n)
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
