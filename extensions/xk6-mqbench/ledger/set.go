// Package ledger keeps sets of sequence numbers: which messages were sent, failed, acknowledged, received.
package ledger

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

const (
	chunkBits  = 1 << 14
	chunkWords = chunkBits / 64
)

type chunk struct {
	words []atomic.Uint64
	// fullWords is how many of them have all their bits.
	fullWords atomic.Int32
}

// full stands for every chunk in which all bits are set; a run without loss thus keeps only a few chunks.
var full = &chunk{}

// Set is a set of sequence numbers 0 .. size-1, safe for concurrent use. A chunk of 16 384 numbers takes 2 KiB from its first member until
// it is full; a chunk of a smaller set takes less.
type Set struct {
	size   int64
	chunks []atomic.Pointer[chunk]
}

// NewSet makes an empty set of numbers below size.
func NewSet(size int64) *Set {
	return &Set{size: size, chunks: make([]atomic.Pointer[chunk], (size+chunkBits-1)/chunkBits)}
}

// Size is one more than the largest number that it can hold.
func (s *Set) Size() int64 { return s.size }

// Add puts seq into the set and reports whether it was not there yet. A number outside of the set changes nothing.
func (s *Set) Add(seq int64) (added bool) {
	if seq < 0 || seq >= s.size {
		return false
	}
	slot := &s.chunks[seq/chunkBits]
	c := slot.Load()
	if c == nil {
		fresh := &chunk{words: make([]atomic.Uint64, min(chunkWords, (s.size+63)/64))}
		if slot.CompareAndSwap(nil, fresh) {
			c = fresh
		} else {
			c = slot.Load()
		}
	}
	if c == full {
		return false
	}
	bit := uint64(1) << (seq % 64)
	old := c.words[seq%chunkBits/64].Or(bit)
	if old&bit != 0 {
		return false
	}
	// Subtle: a goroutine that still has the old chunk finds its bit set there too, so no duplicate is missed.
	if old|bit == ^uint64(0) && c.fullWords.Add(1) == chunkWords {
		slot.Store(full)
	}
	return true
}

// Has reports whether seq is in the set.
func (s *Set) Has(seq int64) bool {
	if seq < 0 || seq >= s.size {
		return false
	}
	word, _ := s.word(seq, 0)
	return word&(1<<(seq%64)) != 0
}

// Count is the number of members in [from, to).
func (s *Set) Count(from, to int64) int64 { return CountWhere(from, to, s, nil) }

// CountWhere is how many numbers in [from, to) are in a and not in b. a == nil means all numbers, b == nil none.
func CountWhere(from, to int64, a, b *Set) int64 {
	var n int64
	for seq := from; seq < to; {
		inA, alike := a.word(seq, ^uint64(0))
		inB, both := b.word(seq, 0)
		word := inA &^ inB
		if alike && both && seq%chunkBits == 0 && to-seq >= chunkBits { // nearly every chunk
			n += chunkWords * int64(bits.OnesCount64(word))
			seq += chunkBits
			continue
		}
		word &= ^uint64(0) << (seq % 64)
		next := (seq/64 + 1) * 64
		if next > to {
			word &= ^uint64(0) >> (next - to)
			next = to
		}
		n += int64(bits.OnesCount64(word))
		seq = next
	}
	return n
}

// NextAbsent is the first number in [from, to) that is not in the set, or to.
func (s *Set) NextAbsent(from, to int64) int64 {
	for seq := from; seq < to; seq = (seq/64 + 1) * 64 {
		word, _ := s.word(seq, 0)
		if absent := ^word >> (seq % 64); absent != 0 {
			return min(to, seq+int64(bits.TrailingZeros64(absent)))
		}
	}
	return to
}

// Bits of the set: number s is bit s & 7, the lowest first, of byte s >> 3.
func (s *Set) Bits() []byte {
	bits := make([]byte, (s.size+63)/64*8)
	for seq := int64(0); seq < s.size; seq += 64 {
		word, _ := s.word(seq, 0)
		binary.LittleEndian.PutUint64(bits[seq/8:], word)
	}
	return bits[:(s.size+7)/8]
}

// --- internal ---

// word is the 64 bits that hold seq. alike means that all words of its chunk are the same. absent is the word of no set; numbers at or above size are
// not members.
func (s *Set) word(seq int64, absent uint64) (word uint64, alike bool) {
	switch {
	case s == nil:
		return absent, true
	case seq >= s.size:
		return 0, true
	}
	switch c := s.chunks[seq/chunkBits].Load(); c {
	case nil:
		return 0, true
	case full:
		return ^uint64(0), true
	default:
		return c.words[seq%chunkBits/64].Load(), false
	}
}
