package generator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// Faults of consumers: members of the group leave, are killed, join or pause at their times. Each member that comes or goes has its own
// session, which the driver takes for another client of the run: so it closes, and it is killed, without touching any other. These are
// always the members with the highest numbers. All clients compute the same changes, and each makes its own members'.

const (
	// partingWait is how long a member that leaves may take to handle its present message.
	partingWait = 2 * time.Second
	// partingPoll is also the time for the acknowledgement of that message.
	partingPoll = 10 * time.Millisecond
)

// members are those that come or go: their changes and sessions, and what became of the messages that were due before each fault.
type members struct {
	mu      sync.Mutex
	changes []change
	// present is by member, ended are sessions that are closed or killed.
	present map[int]*member
	ended   []broker.Session
	due     []*dueBefore
	layout  broker.Layout
	own     map[int][]subscription
	running sync.WaitGroup
}

// member is one of them until it leaves or is killed.
type member struct {
	session broker.Session
	// made is true when it has subscribed, and inside how many deliveries it handles; gone is closed when it takes nothing more.
	made   atomic.Bool
	inside atomic.Int64
	gone   chan struct{}
}

// dueBefore counts the receipts of messages that were due before a fault.
type dueBefore struct {
	fault int
	atNs  int64
	// received is how many of them were received, again how many copies came after the fault, and lastNs when the last first receipt did; 0 if
	// none did.
	received, again, lastNs atomic.Int64
}

func (p *Plan) dueBefore() (all []*dueBefore) {
	for i, f := range p.Faults {
		if f.Of == ofConsumers {
			all = append(all, &dueBefore{fault: i, atNs: f.AtNs})
		}
	}
	return all
}

// note notes a receipt at atNs of a message that was due at intendedNs; first is false for a further copy.
func (c *members) note(intendedNs, atNs int64, first bool) {
	for _, s := range c.due {
		switch {
		case intendedNs >= s.atNs:
		case first:
			s.received.Add(1)
			for last := s.lastNs.Load(); atNs > max(last, s.atNs) && !s.lastNs.CompareAndSwap(last, atNs); last = s.lastNs.Load() {
			}
		case atNs >= s.atNs:
			s.again.Add(1)
		}
	}
}

// line for the results; nil without faults of consumers.
func (c *members) line() map[string]any {
	if len(c.due) == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []map[string]any
	for _, s := range c.due {
		all = append(all, map[string]any{"fault": s.fault, "received": s.received.Load(), "again": s.again.Load(), "lastNs": s.lastNs.Load()})
	}
	return map[string]any{"type": "members", "changes": slices.Clone(c.changes), "served": all}
}

// sessions are the main one and its members', without those that are on their way or have ended unless ended is true.
func (g *Generator) sessions(ended bool) []broker.Session {
	g.members.mu.Lock()
	defer g.members.mu.Unlock()
	all := []broker.Session{g.session}
	for _, one := range g.members.present {
		if one.made.Load() || ended {
			all = append(all, one.session)
		}
	}
	if ended {
		all = append(all, g.members.ended...)
	}
	return all
}

// over adds up an ability's number over sessions; nil if one of them does not know it.
func over(sessions []broker.Session, ask func(broker.Session) *int64, add func(a, b int64) int64) *int64 {
	var sum int64
	for _, one := range sessions {
		n := ask(one)
		if n == nil {
			return nil
		}
		sum = add(sum, *n)
	}
	return &sum
}

func plus(a, b int64) int64    { return a + b }
func largest(a, b int64) int64 { return max(a, b) }

func (g *Generator) pausesOf(m int) (all []Backlog) {
	if b := g.plan.Backlog; b != nil {
		all = append(all, *b)
	}
	for _, c := range g.plan.changes() {
		if c.Member == m && c.Action == pauses {
			all = append(all, Backlog{PauseNs: c.dueNs, ResumeNs: c.untilNs})
		}
	}
	return all
}

func (g *Generator) enter(ctx context.Context, m int) error {
	o := g.plan.options(g.url, g.clock.Now, g.note)
	o.Connections, o.Client, o.Clients = 1, g.share.count+m, g.share.count+g.share.members
	session, err := g.driver(o)
	if err != nil {
		return err
	}
	l := &member{session: session, gone: make(chan struct{})}
	g.members.mu.Lock()
	g.members.present[m] = l
	g.members.mu.Unlock()
	if err = session.Open(ctx); err == nil {
		err = session.Prepare(ctx, g.members.layout)
	}
	for _, one := range g.members.own[m] {
		if err == nil {
			err = session.Consume(ctx, one.Subscription, g.gated(l, one.handle))
		}
	}
	l.made.Store(err == nil)
	return err
}

// gated is the handler of a member. What the library hands over to a member that is gone stays there, unacknowledged.
func (g *Generator) gated(l *member, handle broker.Handler) broker.Handler {
	return func(d broker.Delivery) {
		l.inside.Add(1)
		if happened(l.gone) {
			l.inside.Add(-1)
			<-g.ending
			return
		}
		handle(d)
		l.inside.Add(-1)
	}
}

// part ends a member's session: politely, or like a process that is killed.
func (g *Generator) part(ctx context.Context, m int, kill bool) error {
	g.members.mu.Lock()
	l := g.members.present[m]
	delete(g.members.present, m)
	if l != nil {
		g.members.ended = append(g.members.ended, l.session)
	}
	g.members.mu.Unlock()
	if l == nil {
		return fmt.Errorf("consumer %d is not there", m)
	}
	if kill || !l.made.Load() {
		close(l.gone)
		err := broker.Kill(l.session)
		go l.session.Close() // which only ends goroutines
		return err
	}
	var err error
	leaver, able := l.session.(broker.Leaver)
	if able {
		err = leaver.Leave(ctx)
	}
	close(l.gone)
	if !able {
		parting, cancel := context.WithTimeout(ctx, partingWait)
		defer cancel()
		_ = deadline.Sleep(parting, partingPoll)
		_ = deadline.Until(parting, partingPoll, func() bool { return l.inside.Load() == 0 })
		_ = deadline.Sleep(parting, partingPoll)
	}
	return errors.Join(err, l.session.Close())
}

// comeAndGo makes the changes at their times, each member by itself, until the run ends.
func (g *Generator) comeAndGo() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-g.ending; cancel() }()
	c := &g.members
	byMember := map[int][]int{}
	for i, one := range c.changes {
		byMember[one.Member] = append(byMember[one.Member], i)
	}
	for _, changes := range byMember {
		c.running.Go(func() {
			var before sync.WaitGroup
			cut := context.CancelFunc(func() {})
			for _, i := range changes {
				if !g.sleepUntil(c.changes[i].dueNs) {
					break
				}
				cut() // it may still be on its way into the group
				before.Wait()
				until := ctx
				if cut = func() {}; c.changes[i].enters() {
					until, cut = context.WithCancel(ctx)
				}
				before.Go(func() { g.change(until, i) })
			}
			before.Wait()
			cut()
		})
	}
}

// --- internal ---

// sleepUntil returns at a time since T0; false if the run ended before.
func (g *Generator) sleepUntil(ns int64) bool {
	g.sleep(g.t0 + ns - g.clock.Now())
	return !happened(g.ending)
}

func (g *Generator) change(ctx context.Context, i int) {
	c := &g.members
	one, beganNs := c.changes[i], g.clock.Now()-g.t0
	c.mu.Lock()
	c.changes[i].BeganNs = &beganNs
	c.mu.Unlock()
	var err error
	switch {
	case one.enters():
		// Subtle: a system may let nobody in before it has noticed that another member is gone, so only the run's end limits this.
		err = g.enter(ctx, one.Member)
	case one.Action != pauses:
		within, cancel := context.WithTimeout(ctx, g.plan.SetUpTimeout())
		defer cancel()
		err = g.part(within, one.Member, one.Action == killed)
	case !g.sleepUntil(one.untilNs): // its handlers know the time
		return
	}
	doneNs := g.clock.Now() - g.t0
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case happened(g.ending), err != nil && ctx.Err() != nil: // its next change, or the run's end, has cut it short
	case err != nil:
		c.changes[i].Error = err.Error()
	default:
		c.changes[i].DoneNs = &doneNs
	}
}
