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
		later   time.Duration
		of      func(i int64) bool
		sla     []SLALine
		drainNs int64
		copies  int64
	}{
		"the last message, again 20 ms later": {20 * time.Millisecond, every(500, 499), []SLALine{{"duplicated"}}, 30_000 * ms, 1},
		"all messages, again 500 ms later":    {500 * time.Millisecond, every(1, 0), []SLALine{{""}, {"redelivered"}}, 30_000 * ms, 500},
		"none, and no longer than the drain":  {0, every(501, 500), []SLALine{{"duplicated"}}, 300 * ms, 0},
	} {
		t.Run(words, func(t *testing.T) {
			p := testPlan(500, 1000)
			p.DrainNs, p.SLA = c.drainNs, c.sla
			m := measure(t, p, &echoing{later: c.later, of: c.of}, nil)
			if m.window.Duplicated != c.copies || *m.window.Received != 500 {
				t.Errorf("%d copies, %d received; want %d, 500", m.window.Duplicated, *m.window.Received, c.copies)
			}
			if m.totals.LookedNs == nil {
				t.Fatal("nobody says how long was looked")
			}
			if looked := *m.totals.LookedNs; (looked >= lookNs) != (c.drainNs > lookNs) {
				t.Errorf("looked for %d ms, with a drain of %d ms", looked/ms, c.drainNs/ms)
			}
			// Looking is no part of the run.
			m.between("end", m.totals.EndNs, 990*ms, 990*ms+lookNs)
		})
	}
}
