package recorder

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestFiguresSoFarAreThoseOfTheSortedSamplesOfAllSeconds(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	r := New(3, frame(0, 6*secondNs), nil)
	var samples []int64
	for second := range 6 {
		for i := range 3000 {
			ns := int64(math.Exp(random.Float64()*14 + 4))
			samples = append(samples, ns)
			complete(r.Shard(i), int64(second)*secondNs+random.Int64N(secondNs), ns, 0)
		}
		// The last two are not settled; of the others some were looked at before.
		if second != 1 {
			r.Peek(second)
		}
		if second < 4 {
			r.Take(second)
		}
		sorted := slices.Sorted(slices.Values(samples))
		f := r.Figures(Response)
		if f.Count != int64(len(sorted)) || f.Max != sorted[len(sorted)-1] {
			t.Errorf("second %d: %+v; want %d samples, max %d", second, f, len(sorted), sorted[len(sorted)-1])
		}
		for p, got := range map[float64]int64{50: f.P50, 99: f.P99, 99.9: f.P999} {
			want := sorted[int(math.Ceil(float64(len(sorted))*p/100))-1]
			if math.Abs(float64(got-want)) > float64(want)*0.001+1 {
				t.Errorf("second %d: p%g = %d; want %d within 0.1 %%", second, p, got, want)
			}
		}
	}
}

func TestStragglersOfASettledSecondAreAddedAndTheWarmUpIsNot(t *testing.T) {
	r := New(1, frame(secondNs, 3*secondNs), nil)
	s := r.Shard(0)
	if f := r.Figures(Response); f != nil {
		t.Errorf("figures of nothing: %+v", f)
	}
	complete(s, 0, 9_000_000, 0)
	for _, look := range []func(int) *Second{r.Peek, r.Take} {
		look(-1)
		if f := r.Figures(Response); f != nil {
			t.Errorf("figures of the warm-up: %+v", f)
		}
	}
	complete(s, secondNs, 1_000_000, 0)
	r.Take(0)
	complete(s, secondNs+1, 5_000_000, 0)
	r.Take(0)
	if f := r.Figures(Response); f.Count != 2 || f.Max != 5_000_000 {
		t.Errorf("%+v; want 2 samples, max 5 ms", f)
	}
}

func TestASecondThatIsLookedAtLosesNothing(t *testing.T) {
	r := New(2, frame(0, secondNs), nil)
	complete(r.Shard(0), 5, 1000, 0)
	complete(r.Shard(1), 6, 2000, 0)
	for range 2 {
		if n := r.Peek(0).Exact(Response).Count; n != 2 || r.Counted(0, Response) != 2 || len(r.Numbers()) != 1 {
			t.Errorf("looked at %d samples, counted %d in seconds %d; want 2 in one", n, r.Counted(0, Response), r.Numbers())
		}
	}
	complete(r.Shard(1), 7, 3000, 0)
	if n := r.Counted(0, Response); n != 3 {
		t.Errorf("counted %d samples; want 3", n)
	}
	if s := r.Take(0); s.Exact(Response).Count != 3 || s.Exact(Response).Sum != 6000 || len(r.Numbers()) != 0 {
		t.Errorf("took %+v; want 3 samples, and nothing left", s.Exact(Response))
	}
}

// BenchmarkAMessageWhileItsSecondIsLookedAt shows that no message waits for a merge.
func BenchmarkAMessageWhileItsSecondIsLookedAt(b *testing.B) {
	r := New(1, frame(0, secondNs), nil)
	longest := time.Duration(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			r.Peek(0)
			time.Sleep(time.Millisecond)
		}
	}()
	for i := int64(0); ; i++ {
		select {
		case <-done:
			b.ReportMetric(float64(longest.Microseconds()), "us/longest")
			return
		default:
		}
		began := time.Now()
		complete(r.Shard(0), i%secondNs, 1000*(1+i%1000), 0)
		longest = max(longest, time.Since(began))
	}
}
