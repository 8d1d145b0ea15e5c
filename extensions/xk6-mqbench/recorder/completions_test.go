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

func TestAcknowledgementsOrElseReceiptsAreCountedPer10MsOfRealTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, acks := range []bool{true, false} {
		f := frame(0, secondNs)
		f.Acks = acks
		r := New(3, f, nil)
		var want [4][CompletionBins]int64
		for i := range 20_000 {
			atNs := random.Int64N(4 * secondNs)
			want[atNs/secondNs][atNs%secondNs/binNs]++
			if atNs < binNs { // two clocks see the beginning differently
				atNs -= binNs
			}
			if acks {
				completedAt(r.Shard(i), atNs/2, atNs)
			} else {
				completedAt(r.Shard(i), atNs, atNs+secondNs)
			}
		}
		taken := r.TakeCompletions(3)
		if len(taken) != 3 {
			t.Fatalf("%d seconds are taken; want the 3 that are over", len(taken))
		}
		for k, second := range append(taken, r.TakeCompletions(math.MaxInt64)...) {
			if second.Second != int64(k) || second.Counts != want[k] {
				t.Errorf("acks %v: second %d is number %d with %v; want %v", acks, second.Second, k, second.Counts, want[k])
			}
		}
		if left := r.TakeCompletions(math.MaxInt64); len(left) != 0 {
			t.Errorf("%v is taken twice", left)
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
