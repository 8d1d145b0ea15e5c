package schedule

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/draw"
)

// Stages is a rate that changes along straight lines, from T0 on. Message i is due when the integral of the rate reaches i; where it does
// so at the start of a piece without any message, at the end of that piece. After the last piece the rate stays as it is.
type Stages struct {
	legs []leg
}

// neverNs is when a message is due that never is: longer than any run lasts, and as exact in TypeScript.
const neverNs = 1<<53 - 1

// leg is a piece with messages, in numbers that are exact for round durations and rates.
type leg struct {
	startNs int64
	// first is the integral up to the start of the piece.
	first float64
	// durationNs of the piece. The last leg has no end and a constant rate: atStart messages in durationNs.
	durationNs float64
	// atStart and atEnd: the messages of the whole piece at the rate of its start or its end.
	atStart, atEnd float64
	endless        bool
}

// NewStages checks the pieces and adds them up.
func NewStages(pieces []Piece) (*Stages, error) {
	if len(pieces) == 0 {
		return nil, errors.New("schedule: there are no stages")
	}
	s := &Stages{}
	startNs, first := int64(0), 0.0
	for k, p := range pieces {
		if err := errors.Join(p.From.checkIdle(), p.To.checkIdle()); err != nil {
			return nil, fmt.Errorf("stage %d: %w", k+1, err)
		}
		if p.DurationNs < 0 {
			return nil, fmt.Errorf("schedule: stage %d lasts %d ns: must not be negative", k+1, p.DurationNs)
		}
		l := leg{startNs: startNs, first: first, durationNs: float64(p.DurationNs)}
		l.atStart = float64(l.durationNs*float64(p.From.Messages)) / float64(p.From.PerNs)
		l.atEnd = float64(l.durationNs*float64(p.To.Messages)) / float64(p.To.PerNs)
		if l.atStart+l.atEnd > 0 {
			s.legs = append(s.legs, l)
		}
		startNs += p.DurationNs
		first += float64((l.atStart + l.atEnd) / 2)
	}
	if last := pieces[len(pieces)-1].To; last.Messages > 0 {
		s.legs = append(s.legs, leg{
			startNs: startNs, first: first, durationNs: float64(last.PerNs),
			atStart: float64(last.Messages), atEnd: float64(last.Messages), endless: true,
		})
	}
	if len(s.legs) == 0 {
		return nil, errors.New("schedule: the stages have no messages")
	}
	return s, nil
}

// Offset solves x = atStart * u + (atEnd - atStart) * u^2 / 2 for u = time / duration, in a form that does not subtract nearly equal
// numbers: u = 2x / (atStart + sqrt(atStart^2 + 2 (atEnd - atStart) x)). Truncated to whole ns.
func (s *Stages) Offset(i int64) int64 {
	at := float64(i)
	lo, hi := 0, len(s.legs)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; s.legs[mid].first <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	l := &s.legs[lo]
	x := at - l.first
	if x == 0 {
		// From a rate of 0 on the first message would divide by it.
		return l.startNs
	}
	squared := max(0, float64(l.atStart*l.atStart)+float64(2*(l.atEnd-l.atStart)*x))
	ns := float64(2*x*l.durationNs) / (l.atStart + math.Sqrt(squared))
	if ns >= l.durationNs && !l.endless {
		if lo+1 == len(s.legs) {
			return neverNs
		}
		return s.legs[lo+1].startNs
	}
	return l.startNs + int64(ns)
}

// Before starts with the integral at ns as a guess and lets Offset decide.
func (s *Stages) Before(ns int64) int64 {
	if ns <= 0 {
		return 0
	}
	l := &s.legs[0]
	if l.startNs >= ns {
		return 0
	}
	for k := range s.legs {
		if s.legs[k].startNs < ns {
			l = &s.legs[k]
		}
	}
	u := float64(ns-l.startNs) / l.durationNs
	if !l.endless {
		u = min(u, 1)
	}
	n := max(0, int64(l.first+u*(l.atStart+u*(l.atEnd-l.atStart)/2)))
	for n > 0 && s.Offset(n-1) >= ns {
		n--
	}
	for s.Offset(n) < min(ns, neverNs) {
		n++
	}
	return n
}

// Poisson arrivals are independent of each other: the gap before message i is exponential, -ln(U_i) * PerNs / Messages, with U_i from
// the seed's row for arrivals. Gaps are summed in float64 within chunks of 1024 messages, and each sum is truncated to whole ns. A
// chunk starts at the rounded end of the one before. Gaps themselves are not rounded, so rounding does not shift the mean rate.
//
// Message 0 comes after the first gap. A chunk is computed as a whole when one of its messages is needed, and kept until two others with
// the same number modulo 128 replace it: the pacer and the receipts may be far apart. Other chunks keep only their starts, 8 bytes each.
type Poisson struct {
	meanNs float64
	source draw.Source
	recent [recentChunks][2]atomic.Pointer[chunk]
	// starts[c] is where chunk c starts. It only grows: readers take the slice as they find it.
	starts  atomic.Pointer[[]int64]
	growing sync.Mutex
	scratch chunk // belongs to the holder of growing
}

const (
	chunkBits     = 10
	chunkMessages = 1 << chunkBits
	recentChunks  = 128
)

type chunk struct {
	number  int64
	offsets [chunkMessages]int64
}

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
	slots := &p.recent[number%recentChunks]
	oldest := &slots[0]
	for way := range slots {
		k := slots[way].Load()
		if k != nil && k.number == number {
			return k
		}
		if old := oldest.Load(); old != nil && (k == nil || k.number < old.number) {
			oldest = &slots[way]
		}
	}
	starts := *p.starts.Load()
	if number >= int64(len(starts)) {
		starts = p.grow(int(number) + 1)
	}
	k := new(chunk)
	if next := p.fill(k, number, starts[number]); number+1 == int64(len(starts)) {
		p.growing.Lock()
		if now := *p.starts.Load(); len(now) == len(starts) {
			now = append(now, next)
			p.starts.Store(&now)
		}
		p.growing.Unlock()
	}
	oldest.Store(k)
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
