package generator

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// catchUpPlan reads the messages of a plan from startNs on.
func catchUpPlan(of *Plan, startNs int64) *Plan {
	p := *of
	p.Pattern, p.Consumers, p.ConsumerConnections, p.Subscriptions = catchUp, 0, 1, 1
	p.Loads, p.Beside, p.Heartbeat.DurationNs = 2, &Beside{startNs}, 60_000*ms
	return &p
}

func TestAReaderHasCaughtUpWithTheLastOldMessageBeforeAWholeSecondOfYoungerOnes(t *testing.T) {
	type receipt struct{ atMs, ageMs int64 }
	for _, c := range []struct {
		name     string
		receipts []receipt
		// untilMs is -1 if it has not caught up.
		untilMs, messages int64
	}{
		{"nothing came", nil, -1, 0},
		{"never behind", []receipt{{100, 5}, {900, 5}, {1001, 5}}, 0, 0},
		{"not yet a whole second", []receipt{{100, 5000}, {200, 5}, {1100, 5}}, -1, 1},
		{"old, then young", []receipt{{100, 5000}, {200, 4000}, {300, 1001}, {400, 1000}, {1301, 5}}, 300, 3},
		{"one partition is at its end early", []receipt{{100, 5000}, {110, 5}, {200, 4000}, {210, 5}, {1300, 5}}, 200, 3},
		{"a stall long after it", []receipt{{100, 5000}, {200, 5}, {1300, 5}, {9000, 3000}}, 100, 1},
		{"old ones after a second of young ones", []receipt{{100, 5000}, {200, 5}, {1300, 3000}}, 100, 1},
		{"a slow first answer", []receipt{{1500, 5000}, {1600, 4000}, {1700, 5}, {2700, 5}}, 1600, 2},
	} {
		var k catching
		k.begin(10_000 * ms)
		for _, r := range c.receipts {
			k.received((10_000+r.atMs)*ms, r.ageMs*ms)
		}
		line := k.result().(map[string]any)
		want := any((10_000 + c.untilMs) * ms)
		if c.untilMs < 0 {
			want = nil
		}
		if line["untilNs"] != want || line["messages"] != c.messages || line["beganNs"] != 10_000*ms {
			t.Errorf("%s: %v; want until %v with %d messages", c.name, line, want, c.messages)
		}
	}
	if got := new(catching).result(); got != nil {
		t.Errorf("a reader that never began: %v", got)
	}
}

// The counts of a reader are right, of a log that has lost one message and holds another twice. The load beside it has its own.
func TestACatchUpCountsEachMessageOfTheLoadBesideIt(t *testing.T) {
	main := roundTripPlan(2000, 1000, 2, 3)
	main.Loads, main.Ledger, main.Acks, main.Heartbeat.DurationNs = 2, true, true, 60_000*ms
	refuse := refused(every(40, 3))
	var mu sync.Mutex
	var stored []*broker.Message
	sender := openClients(t, main, &stub{acks: true, onSend: func(m *broker.Message) error {
		err := refuse(m)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			stored = append(stored, &broker.Message{Index: m.Index, Name: m.Name, Payload: bytes.Clone(m.Payload)})
		}
		return err
	}})
	log := &stub{acks: true, facts: broker.Description{Replays: true}}
	reader := openClients(t, catchUpPlan(main, 500*ms), log)
	g := reader.generators[0]
	reading := func() bool {
		log.mu.Lock()
		defer log.mu.Unlock()
		return slices.ContainsFunc(log.subscriptions, func(s *stubSubscription) bool { return s.made })
	}
	if all := log.prepared.Subscriptions; len(all) != 2 || !all[0].FromStart || all[0].Group != "" || reading() {
		t.Errorf("it asks for %+v, and reads: %t", all, reading())
	}
	t0 := time.Now().Add(100 * time.Millisecond)
	for _, c := range []*fleet{sender, reader} {
		c.generators[0].StartAt(t0)
		c.beat()
	}
	sender.settle()
	for _, m := range stored {
		log.deliver(m, func(_ int, i int64) int { return 1 + map[int64]int{5: 1, 17: -1}[i] })
	}
	brokertest.Eventually(t, "everything has been read", func() bool { return reading() && log.under.Load() == 0 })
	g.CloseBooks()
	reader.settle()
	for _, c := range []*fleet{reader, sender} {
		c.generators[0].Finish()
		<-c.generators[0].Finished()
	}
	m := reader.close()[0]
	m.has("state complete duplicated 1 sent 0")
	m.between("the beginning of the catch-up", m.totals.CatchUp.BeganNs, 500*ms, 60_000*ms)
	sender.close()[0].check(main)
	sent, received := readLedgers(t, sender)["acked"], readLedgers(t, reader)["received"]
	if len(sent) != len(stored) || len(received) != len(stored)-1 {
		t.Errorf("the load's ledger has %d messages, the reader's %d; want %d and one less", len(sent), len(received), len(stored))
	}
	for k := range received {
		if sent[k] != 1 {
			t.Fatalf("the reader has received %v, which was not sent", k)
		}
	}
}

func TestACatchUpNeedsALog(t *testing.T) {
	g := generate(t, catchUpPlan(testPlan(1000, 100), 0), &stub{})
	if err := g.Open(t.Context(), filepath.Join(t.TempDir(), "client-0"), io.Discard, nil); err == nil || !strings.Contains(err.Error(), "from their beginning") {
		t.Errorf("Open = %v", err)
	}
}
