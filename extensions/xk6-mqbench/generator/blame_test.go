package generator

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// inline delivers within Send and says so: it cannot push back.
type inline struct{ mirror }

func (i *inline) Describe() broker.Description {
	d := i.mirror.Describe()
	d.Inline = true
	return d
}

func (i *inline) driver(o broker.Options) (broker.Session, error) { i.now = o.Now; return i, nil }

func TestAGeneratorThatCannotKeepUpBlamesItself(t *testing.T) {
	p := testPlan(50_000_000, 20)
	p.DrainNs = 10_000 * ms
	i := &inline{}
	m := measureDriver(t, p, i.driver)
	if lag, queued := m.metrics["lag"].Sum, m.metrics["queued"].Sum; m.window.Failed != 0 || queued != 0 || lag == 0 {
		t.Errorf("failed %d, lag %d ms, queued %d ms; want all of it to be lag", m.window.Failed, lag/ms, queued/ms)
	}
}

func TestWhatIsNotSentByAnOverloadedGeneratorWasNotOffered(t *testing.T) {
	p := testPlan(100_000_000, 200)
	p.DrainNs = 1 * ms
	i := &inline{}
	if m := measureDriver(t, p, i.driver); m.window.NotOffered == 0 || m.window.Failed != 0 {
		t.Errorf("not offered %d, failed %d; want the rest not offered", m.window.NotOffered, m.window.Failed)
	}
}

func TestShortBlocksDoNotExplainAGeneratorThatIsLateAnyway(t *testing.T) {
	// Each send takes 100 us of the 1000 us between messages, so that an ideal generator is never late; ours is frozen once.
	m := measure(t, testPlan(1000, 1500), &stub{onSend: func(*broker.Message) error {
		for began := time.Now(); time.Since(began) < 100*time.Microsecond; {
		}
		return nil
	}}, func(slot func()) {
		began, frozen := time.Now(), false
		for time.Since(began) < 1800*time.Millisecond {
			go slot()
			time.Sleep(10 * time.Millisecond)
			if !frozen && time.Since(began) > 600*time.Millisecond {
				frozen = true
				time.Sleep(400 * time.Millisecond)
			}
		}
	})
	if lag, queued := m.metrics["lag"].Sum, m.metrics["queued"].Sum; queued > lag {
		// A thread that waits for a core within a send makes queued time too: a few parts of a hundred alone, more beside others.
		t.Errorf("lag %d ms, queued %d ms; want most of it to be lag", lag/ms, queued/ms)
	}
}

// Everything is due 20 s before it is sent: producers that then wait for each other's calls, or for a slot, are late all the same.
func TestALateGeneratorBlamesNeitherConnectionNorGate(t *testing.T) {
	one, five := int64(1), int64(5)
	for words, limit := range map[string]*int64{"connections": nil, "a gate of 1": &one, "a gate of 5": &five} {
		for _, pattern := range []string{roundTrip, publish, backlog} {
			p := roundTripPlan(2000, 300, 2, 6)
			p.Pattern, p.InFlight, p.DrainNs = pattern, limit, 60_000*ms
			p.Acks = pattern == publish
			if pattern == backlog {
				p.Consumers, p.ConsumerConnections, p.Backlog = 2, 2, &Backlog{ResumeNs: 1}
			}
			// The first call takes so long that another thread becomes the pacer, and the senders' goroutines share the connection.
			h := &hub{acks: p.Acks, refuse: func(i int64) error {
				if i == 0 {
					time.Sleep(30 * time.Millisecond)
				}
				return nil
			}}
			m := runLate(t, complete(p), h, 20*time.Second)[0]
			lag, queued := m.metrics["lag"], m.metrics["queued"].Sum
			if lag.Count != 600 || lag.Min < 19_000*ms || queued > lag.Sum/100 {
				t.Errorf("%s, %s: %d lags, the smallest %d ms, queued %d ms of %d; want all to be lag", words, pattern, lag.Count, lag.Min/ms, queued/ms, (lag.Sum+queued)/ms)
			}
		}
	}
}

// Every send fails and is delivered all the same: a gate that opened twice for a message would have let some through uncounted.
func TestAMessageThatFailsAndArrivesLeavesFlightOnce(t *testing.T) {
	p := testPlan(1000, 1000)
	limit := int64(5)
	p.InFlight = &limit
	m := measure(t, p, &twofold{stub: stub{receive: func(string, int64) { time.Sleep(2 * time.Millisecond) }}}, nil)
	if m.window.Failed != 1000 || m.window.Sent != 1000 {
		t.Errorf("%+v; want 1000 failed", m.window)
	}
}

// Of messages whose command was written and not answered nobody knows whether they arrived, with acknowledgements or without.
func TestAMessageThatMayHaveLeftIsUnknownWithoutAcknowledgementsToo(t *testing.T) {
	gone := fmt.Errorf("gone: %w", broker.ErrUnknown)
	m := measure(t, testPlan(1000, 500), &twofold{
		stub: stub{onSend: func(msg *broker.Message) error {
			return map[int64]error{3: gone, 4: errRefused}[msg.Index%10]
		}},
		fate: func(i int64) error { return map[int64]error{5: gone}[i%10] },
	}, nil)
	w := m.window
	if w.Unknown != 100 || w.Failed != 50 || *w.Received != 400 || *w.UnackedReceived != 50 || *w.Lost != 0 || *w.Delivered != 350 {
		t.Errorf("%+v; want 100 unknown, half of them received, 50 failed, 400 received, none lost", w)
	}
	if _, found := m.offenders["lost"]; found || m.totals.EndNs > 1500*ms {
		t.Errorf("first lost %v, end at %d ms; want none, and no wait for what will not come", m.offenders, m.totals.EndNs/ms)
	}
}

func TestASendThatHangsBehindTheGateHasFailed(t *testing.T) {
	p := testPlan(1000, 300)
	limit := int64(3)
	p.InFlight, p.DrainNs = &limit, 300*ms
	never := make(chan struct{})
	defer close(never)
	m := measure(t, p, &stub{
		// The gate closes at message 50 for a while, so that the sender's own goroutine takes over; its call hangs.
		receive: func(_ string, i int64) {
			if i == 50 {
				time.Sleep(50 * time.Millisecond)
			}
		},
		onSend: func(msg *broker.Message) error {
			if msg.Index == 70 {
				<-never
			}
			return nil
		},
	}, nil)
	if *m.window.Lost != 0 || m.window.Failed != 230 || *m.window.Received != 70 {
		t.Errorf("received %d, lost %d, failed %d; want 70, 0, 230", *m.window.Received, *m.window.Lost, m.window.Failed)
	}
}

func TestSendCallsOfOneConnectionDoNotOverlap(t *testing.T) {
	p := testPlan(4000, 500)
	limit := int64(1)
	p.Producers, p.InFlight, p.DrainNs = 4, &limit, 30_000*ms
	var calls, overlaps atomic.Int64
	m := measure(t, p, &stub{onSend: func(*broker.Message) error {
		if calls.Add(1) > 1 {
			overlaps.Add(1)
		}
		time.Sleep(50 * time.Microsecond)
		calls.Add(-1)
		return nil
	}}, nil)
	if overlaps.Load() > 0 {
		t.Errorf("%d send calls overlapped", overlaps.Load())
	}
	if *m.window.Received != 2000 {
		t.Errorf("received %d; want 2000", *m.window.Received)
	}
}

// twofold refuses every message and delivers it nevertheless.
type twofold struct {
	stub
	// fate of message i's send, which is delivered all the same; nil: refused.
	fate func(i int64) error
}

func (s *twofold) driver(o broker.Options) (broker.Session, error) {
	_, err := s.stub.driver(o)
	return s, err
}
func (s *twofold) Producer(int) (broker.Producer, error) { return s, nil }
func (s *twofold) Send(m *broker.Message, done broker.Done) {
	s.stub.Send(m, func(m *broker.Message, _ int64, err error) {
		switch {
		case s.fate == nil:
			err = errors.New("refused, and stored")
		case err == nil:
			err = s.fate(m.Index)
		}
		done(m, 0, err)
	})
}
