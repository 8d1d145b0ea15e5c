package generator

import "slices"

const (
	// stretches is how many busy stretches of the past a calendar remembers, keptNs how long one must be for that.
	stretches = 16
	keptNs    = int64(200_000)
)

// calendar is when an ideal generator, whose own work takes no time, would have been in send calls on a connection. A send
// begins at the first free moment at or after its own time, and takes as long as the real call did:
//
//	start(n) = first free moment >= at(n), busy: [start(n), start(n) + S(n))
//
// Where messages come in the order of their times that is Lindley's recursion. Subtle: they need not. When our own work made
// a burst of late messages, one producer's may be sent before older ones of another, and counting on from the end of the
// call before would make those wait, on paper, for messages that were due long after them.
type calendar struct {
	// last is the newest busy stretch, past are older ones, ascending.
	last stretch
	past []stretch
}

type stretch struct{ fromNs, untilNs int64 }

// free is the first moment at or after the given one at which nothing is sent.
func (c *calendar) free(atNs int64) int64 {
	if atNs < c.last.fromNs {
		for _, s := range c.past {
			if s.fromNs <= atNs {
				atNs = max(atNs, s.untilNs)
			}
		}
	}
	if atNs < c.last.fromNs {
		return atNs
	}
	return max(atNs, c.last.untilNs)
}

// book notes a send call of so long from startNs on, which free has given.
func (c *calendar) book(startNs, ns int64) {
	switch {
	case startNs > c.last.untilNs:
		if c.last.untilNs-c.last.fromNs >= keptNs {
			c.keep()
		}
		c.last = stretch{startNs, startNs + ns}
	case startNs >= c.last.fromNs:
		c.last.untilNs += ns
	default:
		for k := range c.past {
			if c.past[k].untilNs == startNs {
				c.past[k].untilNs += ns
				return
			}
		}
	}
}

// --- internal ---

// keep moves the newest stretch to the past. Of too many the one goes that is shortest for its age: a long block is
// remembered while short ones come and go, and not for ever.
func (c *calendar) keep() {
	if c.past == nil {
		c.past = make([]stretch, 0, stretches)
	}
	if len(c.past) == stretches {
		shortest, least := 0, 0.0
		for k, s := range c.past {
			share := float64(s.untilNs-s.fromNs) / float64(max(1, c.last.untilNs-s.untilNs))
			if k == 0 || share < least {
				shortest, least = k, share
			}
		}
		c.past = slices.Delete(c.past, shortest, shortest+1)
	}
	c.past = append(c.past, c.last)
}
