package generator

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// Every fault that is put in at 10 000 messages a second is found, and nothing else. Only what was handed to the driver can have a
// fault: on a machine that others use not every message is offered.
func TestEveryInjectedFaultIsFoundAndNothingElse(t *testing.T) {
	const n = 20_000
	p := testPlan(10_000, 2000)
	p.Message.Checksum = true
	// What is dropped is waited for; and a machine that others use may be seconds behind.
	p.DrainNs, p.TimeoutNs = 8_000_000_000, 8_000_000_000
	is := func(i, every, at int64) bool { return i%every == at }
	refused := func(i int64) bool { return is(i, 10_007, 77) }
	dropped := func(i int64) bool { return is(i, 1009, 501) && !refused(i) }
	repeated := func(i int64) bool { return is(i, 2003, 1001) && !refused(i) && !dropped(i) }
	damaged := func(i int64) bool { return is(i, 3001, 17) && !refused(i) && !dropped(i) && !repeated(i) }
	late := func(i int64) bool {
		return is(i, 5003, 40) && i+1 < n && !refused(i) && !dropped(i) && !repeated(i) && !damaged(i) &&
			!refused(i+1) && !dropped(i+1) && !damaged(i+1)
	}
	flagged := func(i int64) bool { return is(i, 4001, 9) }
	handed := make([]bool, n)
	m := measure(t, p, &stub{
		onSend: func(msg *broker.Message) error {
			handed[msg.Index] = true
			if refused(msg.Index) {
				return errors.New("refused")
			}
			return nil
		},
		deliveries: func(i int64) int {
			switch {
			case dropped(i):
				return 0
			case repeated(i):
				return 2
			}
			return 1
		},
		alter: func(i int64, payload []byte) {
			if damaged(i) {
				// In the body first; then in magic, run, producer, sequence and intended time.
				payload[[]int{50, 0, 5, 8, 23, 30}[i/3001%6]] ^= 0x10
			}
		},
		overtaken: late,
		again:     flagged,
	}, nil)
	type fault struct {
		hit  func(int64) bool
		got  int64
		kind string
	}
	// An overtaken message arrives with the next one that does.
	overtaken := func(i int64) bool {
		next := i + 1
		for next < n && (!handed[next] || refused(next)) {
			next++
		}
		return late(i) && next < n && !dropped(next) && !damaged(next)
	}
	lost := func(i int64) bool { return dropped(i) || damaged(i) }
	redelivered := func(i int64) bool { return flagged(i) && !refused(i) && !dropped(i) }
	for name, f := range map[string]fault{
		"failed":     {refused, m.window.Failed, "failed"},
		"lost":       {lost, *m.window.Lost, "lost"},
		"duplicated": {repeated, m.window.Duplicated, "duplicated"},
		"corrupted":  {damaged, *m.window.Corrupted, "corrupted"},
		"reordered":  {overtaken, *m.window.Reordered, "reordered"},
	} {
		var want, first int64 = 0, -1
		for i := range int64(n) {
			if handed[i] && f.hit(i) {
				want++
				if first < 0 {
					first = i
				}
			}
		}
		if f.got != want || want == 0 {
			t.Errorf("%s = %d; want %d", name, f.got, want)
		}
		if got := m.offenders[f.kind]; got.Sequence != first || *got.IntendedNs != first*100_000 {
			t.Errorf("first %s = %+v; want message %d at %d ns", name, got, first, first*100_000)
		}
	}
	var flags int64
	for i := range int64(n) {
		if handed[i] && redelivered(i) {
			flags++
			if repeated(i) {
				flags++
			}
		}
	}
	if m.window.Redelivered != flags || m.totals.Foreign != 0 {
		t.Errorf("redelivered %d, foreign %d; want %d, 0", m.window.Redelivered, m.totals.Foreign, flags)
	}
}

func TestTheSlowestMessagesSayWhatTheyWaitedFor(t *testing.T) {
	m := measure(t, testPlan(1000, 1000), &stub{onSend: func(msg *broker.Message) error {
		if msg.Index == 500 {
			time.Sleep(200 * time.Millisecond)
		}
		return nil
	}}, nil)
	if len(m.slowest) != 20 {
		t.Fatalf("%d messages are named; want 20", len(m.slowest))
	}
	late := m.lagMs()
	for k, s := range m.slowest {
		if s.ResponseNs != s.QueuedNs+s.LagNs+s.ServiceNs {
			t.Errorf("%+v does not add up", s)
		}
		if k > 0 && s.ResponseNs > m.slowest[k-1].ResponseNs {
			t.Errorf("number %d is slower than the one before", k)
		}
		// Message 500 is slow itself, those behind it have waited; a generator that was late itself has slow ones elsewhere.
		if s.Sequence > 500 && s.Sequence < 540 && s.QueuedNs < (s.ResponseNs-s.LagNs)/2 {
			t.Errorf("%+v is not queued", s)
		}
		if late < 50 && (s.Sequence < 480 || s.Sequence > 540) {
			t.Errorf("%+v is not of the stall", s)
		}
	}
	// The same of all that took between 50 and 150 ms.
	var messages, queuedNs, serviceNs int64
	for _, b := range m.breakdown {
		if b.FromNs >= 50*ms && b.ToNs < 150*ms {
			messages, queuedNs, serviceNs = messages+b.Messages, queuedNs+b.QueuedNs, serviceNs+b.ServiceNs
		}
	}
	if late < 20 && (messages < 50 || queuedNs < serviceNs) {
		t.Errorf("%d messages were queued for %d ns in all, and served for %d; want about 100, most of their time queued", messages, queuedNs, serviceNs)
	}
}

func TestWhatAClosedLoopWouldNotHaveSentIsCounted(t *testing.T) {
	m := measure(t, testPlan(1000, 2000), &stub{receive: func(_ string, i int64) {
		if i == 1000 {
			time.Sleep(500 * time.Millisecond)
		}
	}}, nil)
	// Those due while message 1000 was in flight; a busy machine adds others.
	m.between("sent behind an earlier message", *m.window.Behind, 400-m.lagMs(), 2000)
}

func TestWhatWaitsAtTheGateIsBehindAnEarlierMessageAsWell(t *testing.T) {
	p := testPlan(1000, 1000)
	limit := int64(1)
	p.InFlight = &limit
	m := measure(t, p, &stub{receive: func(string, int64) { time.Sleep(5 * time.Millisecond) }}, nil)
	// One in 5 ms is answered: four of five are due while another one is in flight, and then all, as they pile up.
	m.between("due behind an earlier message", *m.window.Behind, 750, 1000)
}

// Its own stamps split a message's response: those that contradict each other or the schedule, or are of another run, are none.
func TestAMessageWhoseStampsContradictEachOtherIsNotOurs(t *testing.T) {
	for words, p := range map[string]*Plan{"with a schedule": testPlan(1000, 400), "closed": closedPlan(400, 10)} {
		p.DrainNs, p.TimeoutNs = 300*ms, 200*ms
		m := measure(t, p, &stub{alter: func(i int64, payload []byte) {
			e, _ := envelope.Get(payload)
			switch i % 10 {
			case 1:
				e.Lag = -1
			case 2:
				e.Lag = e.Sent - e.Intended + 1
			case 3:
				e.Sent = e.Intended - 1
			case 4:
				e.Intended++
			case 5:
				e.Run++
			}
			envelope.Put(payload, e)
		}}, nil)
		if *m.window.Received != 200 || *m.window.Lost != 200 || m.totals.Foreign != 200 {
			t.Errorf("%s: %+v, %d foreign; want 200 received, 200 foreign", words, m.window, m.totals.Foreign)
		}
	}
}

func TestAMessageCarriesTheLagThatIsBooked(t *testing.T) {
	var carried atomic.Int64
	m := measure(t, testPlan(1000, 400), &stub{onSend: func(m *broker.Message) error {
		e, _ := envelope.Get(m.Payload)
		carried.Add(e.Lag)
		return nil
	}}, nil)
	if lag := m.metrics["lag"]; carried.Load() != lag.Sum || lag.Sum == 0 {
		t.Errorf("messages carry %d ns of lag, %d are booked", carried.Load(), lag.Sum)
	}
}
