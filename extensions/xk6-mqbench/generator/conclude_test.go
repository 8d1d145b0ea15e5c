package generator

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Copies of the given messages come so much later.
type echoing struct {
	stub
	later time.Duration
	of    func(i int64) bool
}

func (e *echoing) driver(o broker.Options) (broker.Session, error) {
	_, err := e.stub.driver(o)
	return e, err
}
func (e *echoing) Producer(int) (broker.Producer, error) { return e, nil }
func (e *echoing) Send(m *broker.Message, done broker.Done) {
	if e.of(m.Index) {
		again := &broker.Message{Index: m.Index, Name: m.Name, Payload: append([]byte(nil), m.Payload...)}
		time.AfterFunc(e.later, func() {
			for _, sub := range e.matching(again) {
				e.deliver(sub, again, 1)
			}
		})
	}
	e.stub.Send(m, done)
}

func TestCopiesThatComeWhenEveryMessageHasSettledCountWhereALineAsksForThem(t *testing.T) {
	for words, c := range map[string]struct {
		later                   time.Duration
		of                      func(i int64) bool
		sla                     []SLALine
		drainMs, copies         int64
		lookedLeast, lookedMost int64
	}{
		"the last message, again 20 ms later": {
			later: 20 * time.Millisecond, of: every(500, 499), sla: []SLALine{{"duplicated"}}, drainMs: 5000, copies: 1,
			lookedLeast: 2000, lookedMost: 4000,
		},
		"all messages, again 1.5 s later": {
			later: 1500 * time.Millisecond, of: every(1, 0), sla: []SLALine{{""}, {"redelivered"}}, drainMs: 5000, copies: 500,
			lookedLeast: 2000, lookedMost: 4000,
		},
		"no longer than the drain": {
			later: 20 * time.Millisecond, of: every(500, 499), sla: []SLALine{{"duplicated"}}, drainMs: 300, copies: 1,
			lookedLeast: 0, lookedMost: 1000,
		},
	} {
		t.Run(words, func(t *testing.T) {
			p := testPlan(500, 1000)
			p.DrainNs, p.SLA = c.drainMs*ms, c.sla
			m := measure(t, p, &echoing{later: c.later, of: c.of}, nil)
			if m.window.Duplicated != c.copies || *m.window.Received != 500 {
				t.Errorf("%d copies, %d received; want %d, 500", m.window.Duplicated, *m.window.Received, c.copies)
			}
			if m.totals.LookedNs == nil {
				t.Fatal("nobody says how long was looked")
			}
			m.between("looked", *m.totals.LookedNs, c.lookedLeast*ms, c.lookedMost*ms)
			m.between("end", m.totals.EndNs, 990*ms, 2900*ms)
		})
	}
}

// The stop is only noted, not made: deliveries come after the drain, while it lasts.
func TestTheDrainIsAsLongAsTheGeneratorCouldWait(t *testing.T) {
	open, closed := testPlan(1000, 500), closedPlan(500, 500)
	for words, p := range map[string]*Plan{"with a schedule": open, "closed": closed} {
		t.Run(words, func(t *testing.T) {
			p.DrainNs, p.TimeoutNs = 300*ms, 300*ms
			s := &stub{receive: func(_ string, i int64) {
				if i == 480 {
					time.Sleep(1200 * time.Millisecond)
				}
			}}
			onNew = func(g *Generator) {
				go func() {
					<-g.started
					for from := g.t0; from < g.t0+2500*ms; {
						time.Sleep(20 * time.Millisecond)
						now := g.clock.Now()
						g.stops.woke(from, now)
						from = now
					}
				}()
			}
			defer func() { onNew = nil }()
			m := measure(t, p, s, nil)
			if *m.window.Received != 500 || *m.window.Lost != 0 {
				t.Errorf("received %d, lost %d; want 500, 0", *m.window.Received, *m.window.Lost)
			}
		})
	}
}
