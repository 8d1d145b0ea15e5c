package schedule

import (
	"sort"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/draw"
)

// Poisson arrivals are independent of each other: the gap before message i is exponential, -ln(U_i) * PerNs / Messages, with U_i from
// the seed's row for arrivals. Gaps are summed in float64 within chunks of 1024 messages, and each sum is truncated to whole ns. A
// chunk starts at the rounded end of the one before. Gaps themselves are not rounded, so rounding does not shift the mean rate.
//
// Message 0 comes after the first gap. A chunk is computed as a whole when one of its messages is needed, and kept until a chunk with
// the same number modulo 256, earlier or later, replaces it. Of all others only the starts are kept, 8 bytes each.
type Poisson struct {
	meanNs float64
	source draw.Source
	recent [recentChunks]atomic.Pointer[chunk]
	// starts[c] is where chunk c starts. It only grows: readers take the slice as they find it.
	starts  atomic.Pointer[[]int64]
	growing sync.Mutex
	scratch chunk // belongs to the holder of growing
}

const (
	chunkBits     = 10
	chunkMessages = 1 << chunkBits
	recentChunks  = 256
)

type chunk struct {
	number  int64
	offsets [chunkMessages]int64
}

var _ Schedule = (*Poisson)(nil)

// NewPoisson makes the schedule of a mean rate and a seed.
func NewPoisson(mean Rate, seed uint64) (*Poisson, error) {
	if err := mean.check(); err != nil {
		return nil, err
	}
	p := &Poisson{meanNs: float64(mean.PerNs) / float64(mean.Messages), source: draw.New(seed, draw.Arrivals)}
	p.starts.Store(&[]int64{0})
	return p, nil
}

// Offset of a message far ahead of all earlier calls costs the whole way there, once.
func (p *Poisson) Offset(i int64) int64 {
	return p.chunk(i >> chunkBits).offsets[i&(chunkMessages-1)]
}

// Before has the same cost as Offset on the first call for ns.
func (p *Poisson) Before(ns int64) int64 {
	if ns <= 0 {
		return 0
	}
	starts := *p.starts.Load()
	for starts[len(starts)-1] < ns {
		starts = p.grow(len(starts) + 1)
	}
	// The chunk before the first start that is not below ns has all messages near ns.
	c := int64(sort.Search(len(starts), func(c int) bool { return starts[c] >= ns })) - 1
	offsets := &p.chunk(c).offsets
	return c<<chunkBits + int64(sort.Search(chunkMessages, func(j int) bool { return offsets[j] >= ns }))
}

// --- internal ---

func (p *Poisson) chunk(number int64) *chunk {
	slot := &p.recent[number%recentChunks]
	if k := slot.Load(); k != nil && k.number == number {
		return k
	}
	starts := *p.starts.Load()
	if number >= int64(len(starts)) {
		starts = p.grow(int(number) + 1)
	}
	k := new(chunk)
	p.fill(k, number, starts[number])
	slot.Store(k)
	return k
}

// fill computes a chunk and returns where the next one starts.
func (p *Poisson) fill(k *chunk, number, startNs int64) int64 {
	k.number = number
	sum := 0.0
	for j := range k.offsets {
		sum += float64(p.source.Exponential(number<<chunkBits+int64(j)) * p.meanNs)
		k.offsets[j] = startNs + int64(sum)
	}
	return startNs + int64(sum+0.5)
}

// grow returns at least n starts.
func (p *Poisson) grow(n int) []int64 {
	p.growing.Lock()
	defer p.growing.Unlock()
	starts := *p.starts.Load()
	for len(starts) < n {
		last := int64(len(starts)) - 1
		starts = append(starts, p.fill(&p.scratch, last, starts[last]))
	}
	p.starts.Store(&starts)
	return starts
}
