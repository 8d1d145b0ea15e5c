package generator

import (
	"context"
	"errors"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	// leaderTimeout limits the search for the leader: during a fault there may be none.
	leaderTimeout = 2 * time.Second
	// openAhead is the shortest time between learning of a window's start and the start.
	openAhead = 500 * time.Millisecond
	// finishTimeout is how long one of several clients waits for permission to leave after its drain.
	finishTimeout = 10 * time.Second
)

// Ready reports to the coordinator that this client is connected and subscribed, and at which endpoints if the system has no server.
func (g *Generator) Ready() {
	ready := map[string]any{"mqbench": "ready"}
	if endpoints := broker.Endpoints(g.session); len(endpoints) > 0 {
		ready["endpoints"] = endpoints
	}
	g.results.tell(ready)
}

// Meet connects this client's senders to the other clients' subscriptions, and reports how that ended. Called once, after Ready and before T0.
func (g *Generator) Meet(others []broker.Endpoint) {
	ctx, cancel := context.WithTimeout(context.Background(), g.plan.SetUpTimeout())
	defer cancel()
	met := map[string]any{"mqbench": "met"}
	if err := broker.Meet(ctx, g.session, others); err != nil {
		met["error"] = address.MaskedText(err.Error())
	}
	g.results.tell(met)
}

// StartAt sets T0, by the wall clock of this machine, before the first slot.
func (g *Generator) StartAt(t0 time.Time) {
	g.handedOut = true
	g.date(g.clock.At(t0), t0)
}

// CloseBooks ends the drain: everything that was sent anywhere has settled or is no longer waited for. One of several
// clients then counts nothing more, reports that it is settled, and stays until Finish. Any goroutine may call it at any time.
func (g *Generator) CloseBooks() { g.toldOnce.Do(func() { close(g.told) }) }

// Finish lets the client leave the broker; it closes its books first. Any goroutine may call it at any time.
func (g *Generator) Finish() {
	g.CloseBooks()
	g.finishOnce.Do(func() { close(g.finish) })
}

// TellLeader answers question id with the broker's name of the node that leads the first topic, or null if there is none or no answer. It
// returns in bounded time. Any goroutine may call it after Open.
func (g *Generator) TellLeader(id int64) {
	ctx, cancel := context.WithTimeout(context.Background(), leaderTimeout)
	defer cancel()
	var node string
	err := deadline.While(ctx, func() (err error) {
		node, err = broker.Leader(ctx, g.session, g.plan.Topics[0])
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = errors.New("the broker did not say who leads within 2s")
	}
	answer := map[string]any{"mqbench": "leader", "id": id, "node": nil}
	switch {
	case err != nil: // node may still be written
		answer["error"] = address.MaskedText(err.Error())
	case node != "":
		answer["node"] = node
	}
	g.results.tell(answer)
}

// OpenAt opens the window of a warm-up until steady, at a whole second before the planned one. If it is too late, it changes nothing: none
// of the window's messages may have been sent. Any goroutine may call it at any time.
func (g *Generator) OpenAt(startNs int64) {
	s := g.plan.Schedule
	if s.Steady == nil || startNs < s.Steady.FromNs || startNs >= s.WarmupNs || startNs%int64(time.Second) != 0 {
		return
	}
	g.openOnce.Do(func() {
		g.move(startNs, startNs+s.DurationNs)
		// Subtle: check this last, because this goroutine may have waited long for a core.
		if !g.known.Load() || g.clock.Now()-g.t0 > startNs-int64(openAhead) {
			g.move(s.WarmupNs, g.plan.windowEndNs())
		}
	})
}

// --- internal ---

func (g *Generator) move(startNs, endNs int64) {
	first, messages := g.schedule.Before(startNs), g.schedule.Before(endNs)
	g.intendedMessages.Store(messages)
	g.endNs.Store(endNs)
	g.books.Move(first, messages)
	g.recorder.Move(startNs, endNs, first)
}

// hasT0 waits until T0 is set, and reports whether it ever will be: other clients' messages may arrive before a client gets T0.
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

// awaitFinish keeps one of several clients, or loads, with its books closed, until it may leave: when a member leaves a group, the others get its
// unacknowledged messages, and must no longer count them; and leaving is work for the broker, which other loads would measure.
func (g *Generator) awaitFinish(ctx context.Context) {
	g.results.tell(map[string]any{"mqbench": "settled"})
	endNs := g.endNs.Load()
	if g.plan.Loads > 1 {
		endNs = max(endNs, g.plan.Heartbeat.DurationNs)
	}
	most := g.t0 + endNs + g.plan.DrainNs + int64(finishTimeout) - g.clock.Now()
	select {
	case <-g.finish:
	case <-ctx.Done():
	case <-time.After(time.Duration(most)):
	}
}
