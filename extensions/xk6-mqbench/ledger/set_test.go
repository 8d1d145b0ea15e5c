//go:build !race

package ledger

import (
	"math/rand/v2"
	"testing"
)

func TestASetAgreesWithAMap(t *testing.T) {
	const size = 3*chunkBits + 17
	random := rand.New(rand.NewPCG(3, 4))
	a, b := NewSet(size), NewSet(size)
	inA, inB := map[int64]bool{}, map[int64]bool{}
	for range 120_000 {
		seq := random.Int64N(size)
		if added := a.Add(seq); added == inA[seq] {
			t.Fatalf("Add(%d) says added = %v", seq, added)
		}
		inA[seq] = true
		other := random.Int64N(size)
		b.Add(other)
		inB[other] = true
	}
	for range 200 {
		from := random.Int64N(size)
		to := from + random.Int64N(size-from+1)
		var onlyA, all, notB int64
		for seq := from; seq < to; seq++ {
			if inA[seq] {
				all++
				if !inB[seq] {
					onlyA++
				}
			}
			if !inB[seq] {
				notB++
			}
			if a.Has(seq) != inA[seq] {
				t.Fatalf("Has(%d) = %v", seq, a.Has(seq))
			}
		}
		if got := a.Count(from, to); got != all {
			t.Fatalf("Count(%d, %d) = %d; want %d", from, to, got, all)
		}
		if got := CountWhere(from, to, a, b); got != onlyA {
			t.Fatalf("CountWhere(%d, %d, a, b) = %d; want %d", from, to, got, onlyA)
		}
		if got := CountWhere(from, to, nil, b); got != notB {
			t.Fatalf("CountWhere(%d, %d, nil, b) = %d; want %d", from, to, got, notB)
		}
	}
}

func TestAFullChunkIsLetGoAndStillKnowsItsMembers(t *testing.T) {
	s := NewSet(2 * chunkBits)
	for seq := range int64(chunkBits) {
		s.Add(seq)
	}
	if s.chunks[0].Load() != full {
		t.Error("a full chunk still takes memory")
	}
	if s.Add(4711) {
		t.Error("a duplicate in a full chunk is not seen")
	}
	if got := s.Count(0, 2*chunkBits); got != chunkBits {
		t.Errorf("Count = %d; want %d", got, chunkBits)
	}
}

func TestNumbersOutsideOfTheSetChangeNothing(t *testing.T) {
	s := NewSet(10)
	for _, seq := range []int64{-1, 10, 1 << 40} {
		if s.Add(seq) || s.Has(seq) {
			t.Errorf("Add(%d) is taken", seq)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	s := NewSet(int64(b.N))
	b.ReportAllocs()
	for i := range int64(b.N) {
		s.Add(i)
	}
}

func TestTheBitsOfASetAreItsMembers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, size := range []int64{0, 1, 8, 63, 64, 65, 1000, 2*chunkBits + 13} {
		s := NewSet(size)
		for seq := range size {
			if seq < chunkBits || random.IntN(3) == 0 { // the first chunk is full
				s.Add(seq)
			}
		}
		bits := s.Bits()
		if int64(len(bits)) != (size+7)/8 {
			t.Errorf("a set of %d has %d bytes; want %d", size, len(bits), (size+7)/8)
		}
		for at := range int64(len(bits)) * 8 {
			if has := bits[at>>3]&(1<<(at&7)) != 0; has != s.Has(at) {
				t.Fatalf("bit %d of %d is %v; want %v", at, size, has, s.Has(at))
			}
		}
	}
}

func TestNextAbsentIsTheFirstThatIsMissing(t *testing.T) {
	const size = 3*chunkBits + 100
	s := NewSet(size)
	for seq := range int64(size) {
		if seq%50_000 != 63 {
			s.Add(seq)
		}
	}
	for _, c := range []struct{ from, to, want int64 }{
		{0, size, 63}, {63, size, 63}, {64, size, 50_063}, {64, 50_000, 50_000}, {64, 64, 64}, {50_064, size, 100_063},
		{150_064, size, size}, {size, size + 10, size},
	} {
		if got := s.NextAbsent(c.from, c.to); got != c.want {
			t.Errorf("NextAbsent(%d, %d) = %d; want %d", c.from, c.to, got, c.want)
		}
	}
}
