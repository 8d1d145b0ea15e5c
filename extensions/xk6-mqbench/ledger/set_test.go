package ledger

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

func TestASetAgreesWithAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int64{1, 8, 63, 64, 65, 1000, 3*chunkBits + 17} {
		a, b := NewSet(size), NewSet(size)
		inA, inB := map[int64]bool{}, map[int64]bool{}
		for range size / 2 {
			seq := random.Int64N(size)
			if added := a.Add(seq); added == inA[seq] {
				t.Fatalf("Add(%d) says added = %v", seq, added)
			}
			inA[seq] = true
			other := random.Int64N(size)
			b.Add(other)
			inB[other] = true
		}
		for _, outside := range []int64{-1, size, 1 << 40} {
			if a.Add(outside) || a.Has(outside) {
				t.Errorf("Add(%d) is taken", outside)
			}
		}
		bits := a.Bits()
		if int64(len(bits)) != (size+7)/8 {
			t.Errorf("a set of %d has %d bytes", size, len(bits))
		}
		for seq := range int64(len(bits)) * 8 {
			if a.Has(seq) != inA[seq] || bits[seq>>3]&(1<<(seq&7)) != 0 != inA[seq] {
				t.Fatalf("%d of %d is a member: %v, and bit %v", seq, size, a.Has(seq), bits[seq>>3])
			}
		}
		for range 20 {
			from := random.Int64N(size)
			to := from + random.Int64N(size-from+1)
			var onlyA, all, notB int64
			absent := to
			for seq := to - 1; seq >= from; seq-- {
				switch {
				case !inA[seq]:
					absent = seq
				case !inB[seq]:
					onlyA++
					fallthrough
				default:
					all++
				}
				if !inB[seq] {
					notB++
				}
			}
			for what, c := range map[string][2]int64{
				"Count": {a.Count(from, to), all}, "CountWhere a, b": {CountWhere(from, to, a, b), onlyA},
				"CountWhere nil, b": {CountWhere(from, to, nil, b), notB}, "NextAbsent": {a.NextAbsent(from, to), absent},
			} {
				if c[0] != c[1] {
					t.Fatalf("%s of [%d, %d) = %d; want %d", what, from, to, c[0], c[1])
				}
			}
		}
	}
}

func TestAFullChunkIsLetGoAndStillKnowsItsMembers(t *testing.T) {
	s := NewSet(2 * chunkBits)
	var first atomic.Int64
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for seq := range int64(chunkBits + 100) {
				if s.Add(seq) {
					first.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if first.Load() != chunkBits+100 {
		t.Errorf("%d numbers were new; want %d", first.Load(), chunkBits+100)
	}
	if s.chunks[0].Load() != full {
		t.Error("a full chunk still takes memory")
	}
	if s.Add(4711) {
		t.Error("a duplicate in a full chunk is not seen")
	}
	if got := s.Count(0, 2*chunkBits); got != chunkBits+100 {
		t.Errorf("Count = %d", got)
	}
	if got := s.NextAbsent(64, 2*chunkBits); got != chunkBits+100 {
		t.Errorf("NextAbsent = %d", got)
	}
	if bits := s.Bits(); bits[0] != 255 || bits[chunkBits/8-1] != 255 || bits[len(bits)-1] != 0 {
		t.Error("the bits are not those of a full chunk and an empty one")
	}
}
