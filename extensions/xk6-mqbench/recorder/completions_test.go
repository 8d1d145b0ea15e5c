package recorder

import (
	"math"
	"math/rand/v2"
	"testing"
)

// completedAt records a message that completes at the given times: its receipt, and its acknowledgement.
func completedAt(s *Shard, receivedNs, ackedNs int64) {
	if s.Enter() {
		s.Received(0, receivedNs)
		s.Acked(0, 0, ackedNs, 0)
		s.Leave()
	}
}

func TestCompletionsAreCountedPer10MsOfRealTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := New(3, frame(0, secondNs), nil)
	var want [4][CompletionBins]int64
	for i := range 20_000 {
		atNs := random.Int64N(4 * secondNs)
		want[atNs/secondNs][atNs%secondNs/binNs]++
		if atNs < binNs { // two clocks see the beginning differently
			atNs -= binNs
		}
		completedAt(r.Shard(i), atNs, 0)
	}
	taken := r.TakeCompletions(3)
	if len(taken) != 3 {
		t.Fatalf("%d seconds are taken; want the 3 that are over", len(taken))
	}
	for k, second := range append(taken, r.TakeCompletions(math.MaxInt64)...) {
		if second.Second != int64(k) || second.Counts != want[k] {
			t.Errorf("second %d is number %d with %v; want %v", second.Second, k, second.Counts, want[k])
		}
	}
	if left := r.TakeCompletions(math.MaxInt64); len(left) != 0 {
		t.Errorf("%v is taken twice", left)
	}
}

func TestCompletionsAreAcknowledgementsWhereThereAreAny(t *testing.T) {
	for _, acks := range []bool{true, false} {
		f := frame(0, secondNs)
		f.Acks = acks
		r := New(1, f, nil)
		completedAt(r.Shard(0), 5*binNs, 7*binNs)
		want := map[bool]int{true: 7, false: 5}[acks]
		if taken := r.TakeCompletions(1); len(taken) != 1 || taken[0].Counts[want] != 1 || sumOf(taken[0]) != 1 {
			t.Errorf("acks %v: %v; want 1 in bin %d", acks, taken, want)
		}
	}
}

func TestWhatCompletedInASecondThatIsTakenComesInALineOfItsOwn(t *testing.T) {
	r := New(1, frame(0, secondNs), nil)
	s := r.Shard(0)
	completedAt(s, 0, 0)
	completedAt(s, secondNs, 0)
	r.TakeCompletions(1)
	completedAt(s, 2*binNs, 0)
	completedAt(s, secondNs+1, 0)
	taken := r.TakeCompletions(2)
	if len(taken) != 2 || taken[0].Second != 0 || taken[0].Counts[2] != 1 || sumOf(taken[0]) != 1 || taken[1].Counts[0] != 2 {
		t.Errorf("%v; want the late one of second 0, and both of second 1", taken)
	}
}

func sumOf(s CompletedSecond) (n int64) {
	for _, count := range s.Counts {
		n += count
	}
	return n
}
