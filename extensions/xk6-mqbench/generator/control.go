package generator

import (
	"context"
	"errors"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// leaderTimeout bounds the question for a leader: in the middle of a fault nobody may know.
	leaderTimeout = 2 * time.Second
	// finishTimeout is how long one of several clients waits after its drain to be told that it may leave.
	finishTimeout = 10 * time.Second
)

// Ready tells whoever hands out T0 that this client is connected and subscribed.
func (g *Generator) Ready() { g.results.tell(map[string]any{"mqbench": "ready"}) }

// StartAt fixes T0 by the wall clock of this machine, before the first slot.
func (g *Generator) StartAt(t0 time.Time) {
	g.handedOut = true
	g.date(g.clock.At(t0), t0)
}

// CloseBooks says that everything that was sent anywhere has settled, or is not waited for: one of several clients counts nothing
// more, says that it is settled, and stays until Finish. Any goroutine may call it, at any moment.
func (g *Generator) CloseBooks() { g.toldOnce.Do(func() { close(g.told) }) }

// Finish says that the client may leave the broker; its books close before. Any goroutine may call it, at any moment.
func (g *Generator) Finish() {
	g.CloseBooks()
	g.finishOnce.Do(func() { close(g.finish) })
}

// TellLeader answers question id: what the broker calls the node that leads the first topic; null where it has none or did not
// say. It returns in bounded time; any goroutine may call it after Open.
func (g *Generator) TellLeader(id int64) {
	node, err := g.leader()
	answer := map[string]any{"mqbench": "leader", "id": id, "node": nil}
	switch {
	case err != nil:
		answer["error"] = address.Masked(err)
	case node != "":
		answer["node"] = node
	}
	g.results.tell(answer)
}

// --- internal ---

// hasT0 waits until T0 is known, and reports whether it will ever be. A client that is told T0 late may have messages of others
// before: their stamps are right all the same.
func (g *Generator) hasT0() bool {
	if g.known.Load() {
		return true
	}
	select {
	case <-g.dated:
		return true
	case <-g.ending:
		return false
	}
}

// leader of the first topic; "": this system has no leaders.
func (g *Generator) leader() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), leaderTimeout)
	defer cancel()
	type found struct {
		node string
		err  error
	}
	answers := make(chan found, 1)
	go func() {
		node, err := broker.Leader(ctx, g.session, g.plan.Topics[0])
		answers <- found{node, err}
	}()
	select {
	case a := <-answers:
		return a.node, a.err
	case <-ctx.Done():
		return "", errors.New("the broker did not say who leads within 2s")
	}
}

// settleWith waits until the books may close, as one of several clients, and says how that came. Where messages cross, a client
// cannot know that everything has arrived: whoever hears of all clients says so.
func (g *Generator) settleWith(ctx context.Context) string {
	deadline := g.t0 + g.plan.windowEndNs() + g.plan.DrainNs
	for {
		if g.clock.Now() >= deadline || !g.crosses && g.settled() {
			return "complete"
		}
		select {
		case <-g.told:
			if g.sent() {
				return "complete"
			}
			return "interrupted" // it was to send more
		case <-ctx.Done():
			g.stop.Store(true)
			if g.crosses { // what others have sent may still be on its way
				time.Sleep(interruptDrain)
			}
			g.awaitFlight(interruptDrain)
			return "interrupted"
		case <-time.After(settlePoll):
		}
	}
}

// awaitFinish is what one of several clients does with its books closed: it stays until it may leave. A group's member that leaves
// hands what it has not acknowledged to the others, and none of them may count that.
func (g *Generator) awaitFinish(ctx context.Context) {
	g.results.tell(map[string]any{"mqbench": "settled"})
	most := g.t0 + g.plan.windowEndNs() + g.plan.DrainNs + int64(finishTimeout) - g.clock.Now()
	select {
	case <-g.finish:
	case <-ctx.Done():
	case <-time.After(time.Duration(most)):
	}
}
