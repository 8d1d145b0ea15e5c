package generator

import (
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/draw"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
)

// consumer is what the members of a group do besides receiving messages: they pause, and they work. It is shared by all of them and has
// no state, and its waits end when the run does. Where a message is handled within its send call, as on noop, it does neither,
// because the pacer would have to wait.
type consumer struct {
	g      *Generator
	source draw.Source
}

func newConsumer(g *Generator) *consumer {
	return &consumer{g: g, source: draw.New(g.plan.Message.Seed, draw.Work)}
}

// pause blocks while consumers take nothing, and returns when the message was taken. A message that the library handed over during the
// pause counts as taken at the end of the pause. Times are ns since T0.
func (c *consumer) pause(atNs int64) int64 {
	b := c.g.plan.Backlog
	if b == nil || c.g.facts.Inline {
		return atNs
	}
	nowNs := c.g.clock.Now() - c.g.t0
	if nowNs >= b.PauseNs && nowNs < b.ResumeNs {
		c.sleep(b.ResumeNs - nowNs)
	}
	return c.takenAt(atNs)
}

// work takes as long as the plan says for message i.
func (c *consumer) work(i int64) {
	w := c.g.plan.Work
	if w == nil || w.MeanNs == 0 || c.g.facts.Inline {
		return
	}
	c.sleep(c.workNs(i))
}

// --- internal ---

// takenAt is when a message was taken that the library handed over at the given time.
func (c *consumer) takenAt(atNs int64) int64 {
	if b := c.g.plan.Backlog; atNs >= b.PauseNs && atNs < b.ResumeNs {
		return b.ResumeNs
	}
	return atNs
}

// workNs of message i is the same in every run of the plan and for every delivery.
func (c *consumer) workNs(i int64) int64 {
	w := c.g.plan.Work
	if w.Distribution == "exponential" {
		return int64(c.source.Exponential(i) * float64(w.MeanNs))
	}
	return w.MeanNs
}

// exactNs is the last part of a sleep. The kernel times it, because Go's timers are up to 1 ms late.
const exactNs = int64(2 * time.Millisecond)

// sleep ends early when the run does.
func (c *consumer) sleep(ns int64) {
	g := c.g
	endNs := g.clock.Now() + ns
	if long := ns - exactNs; long > 0 {
		timer := time.NewTimer(time.Duration(long))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-g.ending:
			return
		}
	}
	select {
	case <-g.ending:
	default:
		pacer.Sleep(g.clock.Now, endNs)
	}
}
