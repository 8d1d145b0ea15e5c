package generator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// freshNs is the age above which a message shows that a reader is behind, and how long it must receive only younger ones to have caught up.
const freshNs = int64(time.Second)

// catching is how a catch-up goes. It has caught up with the last old message before a whole second of younger ones. So neither a partition
// that is read to its end early, nor a lost message, nor a stall long after it decides.
type catching struct {
	subscriptions []subscription

	mu sync.Mutex
	// beganNs is when reading began, ns since T0; began is true from then on.
	beganNs int64
	began   bool
	// oldNs is when the last old message was received, messages are those until then, newer those since then.
	oldNs           int64
	messages, newer int64
	caught          bool
}

func (c *catching) received(atNs, ageNs int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.caught:
	case atNs-c.oldNs > freshNs && c.newer > 0:
		c.caught = true
	case ageNs > freshNs:
		c.oldNs = max(c.oldNs, atNs)
		c.messages, c.newer = c.messages+c.newer+1, 0
	default:
		c.newer++
	}
}

// result is for the totals: nil if it has not begun. untilNs is null if it never caught up.
func (c *catching) result() any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.began {
		return nil
	}
	line := map[string]any{"beganNs": c.beganNs, "untilNs": nil, "messages": c.messages}
	if c.caught {
		line["untilNs"] = c.oldNs
	}
	return line
}

// --- internal ---

func (g *Generator) catchUp() {
	if !g.sleepUntil(g.plan.Beside.StartNs) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), g.plan.SetUpTimeout())
	defer cancel()
	g.catching.begin(g.clock.Now() - g.t0)
	if err := deadline.Each(ctx, g.catching.subscriptions, g.consume); err != nil && !happened(g.ending) {
		g.errors.Note(fmt.Errorf("catch up: %w", err))
	}
}

func (c *catching) begin(atNs int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beganNs, c.oldNs, c.began = atNs, atNs, true
}
