package schedule

import (
	"errors"
	"fmt"
	"math"
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
	// atStart and atEnd: the messages of the whole piece if its rate were that of its start or its end.
	atStart, atEnd float64
	endless        bool
}

var _ Schedule = (*Stages)(nil)

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
