package generator

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// crowd is a queue whose members come and go: what a member has not acknowledged goes to the others some time after its end.
type crowd struct {
	mu      sync.Mutex
	members []*crowdMember
	// waiting are messages without a member.
	waiting [][]byte
	// after is how long the queue takes to notice an end.
	after time.Duration
	// g is set if got has the times of all deliveries, by message.
	g   *Generator
	got map[int64][]int64
	// parted are the ends in their order: "leave", "kill".
	parted []string
}

type crowdMember struct {
	*session
	of     *crowd
	handle broker.Handler
	queue  chan []byte
	// unfinished messages, in their order.
	unfinished [][]byte
	gone       bool
}

func newCrowd(after time.Duration) (*stub, *crowd) {
	c := &crowd{after: after, got: map[int64][]int64{}}
	return &stub{acks: true, facts: broker.Description{Stores: true}, wrap: func(s *session) broker.Session {
		return &crowdMember{session: s, of: c, queue: make(chan []byte, 1<<14)}
	}}, c
}

func (m *crowdMember) Producer(int) (broker.Producer, error) { return m, nil }

func (m *crowdMember) Send(of *broker.Message, done broker.Done) {
	m.of.mu.Lock()
	m.of.give(bytes.Clone(of.Payload), int(of.Index))
	m.of.mu.Unlock()
	done(of, m.o.Now(), nil)
}

// give hands a message to one of the members that are there.
func (c *crowd) give(payload []byte, turn int) {
	if len(c.members) == 0 {
		c.waiting = append(c.waiting, payload)
		return
	}
	to := c.members[turn%len(c.members)]
	to.unfinished = append(to.unfinished, payload)
	to.queue <- payload
}

func (m *crowdMember) Consume(_ context.Context, _ broker.Subscription, handle broker.Handler) error {
	m.handle = handle
	c := m.of
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = append(c.members, m)
	for i, payload := range c.waiting {
		c.give(payload, i)
	}
	c.waiting = nil
	go func() {
		for {
			select {
			case <-m.quit:
				return
			case payload := <-m.queue:
				atNs := m.o.Now()
				m.handle(broker.Delivery{ReceivedNs: atNs, Payload: payload})
				c.mu.Lock()
				if c.g != nil && !happened(c.g.ending) { // else it was handed to a member that was gone
					i := int64(binary.BigEndian.Uint64(payload[16:]))
					c.got[i] = append(c.got[i], atNs-c.g.t0)
				}
				if !m.gone { // an acknowledgement
					m.unfinished = slices.DeleteFunc(m.unfinished, func(one []byte) bool { return &one[0] == &payload[0] })
				}
				c.mu.Unlock()
			}
		}
	}()
	return nil
}

func (m *crowdMember) part(how string) {
	c := m.of
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.gone || m.handle == nil {
		return
	}
	m.gone = true
	c.parted = append(c.parted, how)
	c.members = slices.DeleteFunc(c.members, func(one *crowdMember) bool { return one == m })
	unfinished := m.unfinished
	time.AfterFunc(c.after, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, payload := range unfinished {
			c.give(payload, i)
		}
	})
}

func (m *crowdMember) Kill() { m.part("kill") }
func (m *crowdMember) Close() error {
	m.part("leave")
	return m.session.Close()
}

// membersLine is the line of the results about faults of consumers.
type membersLine struct {
	Changes []change
	Served  []struct {
		Fault                   int
		Received, Again, LastNs int64
	}
}

func (m *measured) membersLine() (line membersLine) {
	m.t.Helper()
	for text := range bytes.Lines(m.text(".jsonl")) {
		if bytes.Contains(text, []byte(`"type":"members"`)) {
			if err := json.Unmarshal(text, &line); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	return line
}

func lasting(ms int64) *int64 { ns := ms * 1_000_000; return &ns }

func membersPlan(ms int64, members int, faults ...Fault) *Plan {
	p := workQueuePlan(1000, ms, members)
	p.ConsumerConnections, p.Acks, p.Faults = members, true, faults
	return p
}

func TestMembersLeaveAreKilledJoinAndPauseAtTheirTimes(t *testing.T) {
	s, c := newCrowd(0)
	m := measure(t, membersPlan(1600, 3,
		Fault{AtNs: 200 * ms, Of: "consumers", Action: "kill", Count: 1, ForNs: lasting(200)},
		Fault{AtNs: 500 * ms, Of: "brokers", Action: "kill"},
		Fault{AtNs: 600 * ms, Of: "consumers", Action: "leave", Count: 2},
		Fault{AtNs: 800 * ms, Of: "consumers", Action: "join", Count: 2},
		Fault{AtNs: 1000 * ms, Of: "consumers", Action: "pause", Count: 3, ForNs: lasting(300)},
		Fault{AtNs: 1400 * ms, Of: "consumers", Action: "leave", Count: 3},
		Fault{AtNs: 1500 * ms, Of: "consumers", Action: "join", Count: 1},
	), s, nil)
	m.has("lost 0 received 1600 acked 1600")
	var told []string
	for _, one := range m.membersLine().Changes {
		if one.Error != "" || one.BeganNs == nil || one.DoneNs == nil {
			t.Fatalf("%+v", one)
		}
		due := map[int]int64{0: 200, 2: 600, 3: 800, 4: 1000, 5: 1400, 6: 1500}[one.Fault]
		if one.Action == comesBack {
			due = 400
		}
		if *one.BeganNs < due*ms || *one.DoneNs < *one.BeganNs || one.Action == pauses && *one.DoneNs < 1300*ms {
			t.Errorf("%s of member %d: from %d to %d; it was due at %d ms", one.Action, one.Member, *one.BeganNs, *one.DoneNs, due)
		}
		told = append(told, one.Action+string(rune('0'+one.Member)))
	}
	want := "kill2 back2 leave1 leave2 join3 join4 pause0 pause3 pause4 leave0 leave3 leave4 join5"
	if strings.Join(told, " ") != want {
		t.Errorf("changes %v; want %s", told, want)
	}
	if want := []string{"kill", "leave", "leave", "leave", "leave", "leave", "leave"}; !slices.Equal(c.parted, want) {
		t.Errorf("ends: %v; want %v", c.parted, want)
	}
	// All three were paused: those 300 messages wait until its end.
	if waited := m.metrics["service"].Sum / ms; waited < 300*300/2*9/10 {
		t.Errorf("messages waited for %d ms in all; want 45 000", waited)
	}
}

func TestServedIsTheLastFirstReceiptOfAMessageThatWasDueBefore(t *testing.T) {
	// Members work more slowly than messages come, so the killed one leaves some behind; the queue notices after 300 ms.
	s, c := newCrowd(300 * time.Millisecond)
	s.onNew = func(made *Generator) { c.g = made }
	p := membersPlan(1500, 3, Fault{AtNs: 500 * ms, Of: "consumers", Action: "kill", Count: 1}, Fault{AtNs: 1400 * ms, Of: "consumers", Action: "join", Count: 1})
	p.Work, p.DrainNs = &Work{MeanNs: 4 * ms, Distribution: "constant"}, 20_000*ms
	m := measure(t, p, s, nil)
	m.has("lost 0 received 1500")
	c.mu.Lock()
	defer c.mu.Unlock()
	var received, again, last int64
	for i, all := range c.got {
		if i >= 500 {
			continue
		}
		received++
		first := slices.Min(all)
		if first > 500*ms {
			last = max(last, first)
		}
		for _, atNs := range all {
			if atNs > 500*ms && atNs != first {
				again++
			}
		}
	}
	line := m.membersLine()
	if len(line.Served) != 2 {
		t.Fatalf("served %+v; want two faults", line.Served)
	}
	if got := line.Served[0]; got.Received != received || received != 500 || got.LastNs != last || last < 800*ms || got.Again != again || again == 0 {
		t.Errorf("served %+v; want %d of 500, the last at %d, which is 300 ms after the kill at the earliest, and %d copies, 1 at least", got, received, last, again)
	}
	if got := line.Served[1]; got.Received != 1400 {
		t.Errorf("served %+v; want 1400", got)
	}
	m.has("duplicated %d", again)
}

func TestFaultsOfConsumersThatCannotBeAreRefused(t *testing.T) {
	fault := Fault{AtNs: 500 * ms, Of: "consumers", Action: "kill", Count: 1}
	shared := membersPlan(1000, 3, fault)
	shared.ConsumerConnections = 2
	alone := testPlan(1000, 1000)
	alone.Faults = []Fault{fault}
	for words, p := range map[string]*Plan{"shared connections": shared, "no group": alone} {
		if err := p.check(); err == nil || !strings.Contains(err.Error(), "a fault of 1 consumers needs a group") {
			t.Errorf("%s: %v", words, err)
		}
	}
}

func TestClientsMakeTheChangesOfTheirOwnMembers(t *testing.T) {
	p := membersPlan(1000, 4, Fault{AtNs: 1, Of: "consumers", Action: "kill", Count: 2, ForNs: lasting(1)}, Fault{AtNs: 5_000_000, Of: "consumers", Action: "join", Count: 3})
	if stay, all := p.members(); stay != 2 || all != 7 {
		t.Errorf("%d members stay and there are %d in all; want 2 and 7", stay, all)
	}
	share := of(2, p).share()
	for m, want := range []int{0, 1, 4, 5, 6, 7, 8} { // two clients, and each member that comes or goes is one more
		client, connection := share.member(m)
		if client != want || m < 2 && connection != share.part(share.connections, client) || m >= 2 && connection != 0 {
			t.Errorf("member %d is connection %d of client %d; want client %d", m, connection, client, want)
		}
	}
}
