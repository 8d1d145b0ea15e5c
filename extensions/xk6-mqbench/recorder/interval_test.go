package recorder

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// whole adds up all seconds of a window.
func whole(r *Recorder) (all []int64, exact Exact, over int64, seconds []Second) {
	sum := Second{}
	for _, n := range r.Numbers() {
		s := r.Take(n)
		seconds = append(seconds, *s)
		if s.WarmUp {
			continue
		}
		sum.merge(s, Response)
		for _, n := range s.Limits[0].Over {
			over += n
		}
	}
	return sum.merged[Response], sum.exact[Response], over, seconds
}

func TestSeveralSecondsOfTheWindowAreRecordedAsOneWithTheSameHistogram(t *testing.T) {
	const warmup, end, limit = 2_500_000_000, 27_500_000_000, 20_000_000
	finer, coarser := frame(warmup, end), frame(warmup, end)
	coarser.IntervalSeconds = 10
	one, ten := New(3, finer, []Limit{{Response, limit}}), New(3, coarser, []Limit{{Response, limit}})
	random := rand.New(rand.NewPCG(1, 2))
	var pieces [3][Pieces]int64
	for i := range 100_000 {
		offset, ns := random.Int64N(end), int64(math.Exp(random.Float64()*14+4))
		complete(one.Shard(i), offset, ns, 0)
		complete(ten.Shard(i), offset, ns, 0)
		if at := offset - warmup; at >= 0 {
			pieces[at/(10*secondNs)][at/secondNs%10]++
		}
	}
	histogram, exact, over, _ := whole(one)
	all, same, as, seconds := whole(ten)
	if same != exact || as != over {
		t.Errorf("recorded by tens of seconds %+v, %d over the limit; by seconds %+v, %d", same, as, exact, over)
	}
	if !slices.Equal(all, histogram) {
		t.Error("the histograms differ")
	}
	want := []struct {
		number                     int
		startNs, lengthNs, several int64
	}{
		{-3, 0, secondNs / 2, 0}, {-2, secondNs / 2, secondNs, 0}, {-1, secondNs * 3 / 2, secondNs, 0},
		{0, warmup, 10 * secondNs, 10}, {10, warmup + 10*secondNs, 10 * secondNs, 10}, {20, warmup + 20*secondNs, 5 * secondNs, 10},
	}
	if len(seconds) != len(want) {
		t.Fatalf("%d intervals; want %d", len(seconds), len(want))
	}
	for k, w := range want {
		s := seconds[k]
		if s.Number != w.number || s.StartNs != w.startNs || s.LengthNs != w.lengthNs || s.Seconds != w.several {
			t.Errorf("interval %d is second %d from %d, %d ns, of %d; want %+v", k, s.Number, s.StartNs, s.LengthNs, s.Seconds, w)
		}
		if !s.WarmUp && s.Limits[0].Count != pieces[s.Number/10] {
			t.Errorf("by seconds of interval %d: %v; want %v", k, s.Limits[0].Count, pieces[s.Number/10])
		}
	}
}

func TestAWindowThatOpensEarlierHasItsIntervalsFromThere(t *testing.T) {
	f := frame(30*secondNs, 90*secondNs)
	f.IntervalSeconds = 10
	r := New(1, f, nil)
	complete(r.Shard(0), 6*secondNs+1, 1000, 0)
	r.Move(7*secondNs, 67*secondNs, 0)
	for at := int64(7); at < 30; at++ {
		complete(r.Shard(0), at*secondNs, 1000, 0)
	}
	for k, want := range []struct {
		startNs, count int64
		warmUp         bool
	}{{6 * secondNs, 1, true}, {7 * secondNs, 10, false}, {17 * secondNs, 10, false}, {27 * secondNs, 3, false}} {
		s := r.Take(r.Numbers()[0])
		if s.StartNs != want.startNs || s.Exact(Response).Count != want.count || s.WarmUp != want.warmUp {
			t.Errorf("interval %d from %d with %d values, warm-up %t; want %+v", k, s.StartNs, s.Exact(Response).Count, s.WarmUp, want)
		}
	}
}

func TestCompletionsOfALongRunAreCountedPerHundredthOfItsInterval(t *testing.T) {
	f := frame(0, secondNs)
	f.IntervalSeconds, f.Acks = 10, true
	r := New(1, f, nil)
	completedAt(r.Shard(0), 0, 10*secondNs+secondNs/4)
	completedAt(r.Shard(0), 0, 0)
	if taken := r.TakeCompletions(19); len(taken) != 1 || taken[0].Second != 0 {
		t.Errorf("%+v; want the first ten seconds, which are over", taken)
	}
	if taken := r.TakeCompletions(20); len(taken) != 1 || taken[0].Second != 10 || taken[0].Seconds != 10 || taken[0].Counts[2] != 1 {
		t.Errorf("%+v; want a completion in the third tenth of a second from 10 s on", taken)
	}
}
