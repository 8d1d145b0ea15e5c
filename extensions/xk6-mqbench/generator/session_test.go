package generator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func TestAPlanAndADriverThatDisagreeAreToldApartBeforeTheRun(t *testing.T) {
	queue := workQueuePlan(100, 100, 1)
	queue.Pattern, queue.Backlog = backlog, &Backlog{PauseNs: 10 * ms, ResumeNs: 20 * ms}
	wild := fanOutPlan(100, 100, 1)
	wild.Wildcard = true
	promised := testPlan(100, 100)
	promised.Acks = true
	for _, c := range []struct {
		plan *Plan
		stub *stub
		want string
	}{
		{promised, &stub{}, "the driver says they are not"},
		{testPlan(100, 100), &stub{acks: true}, "the plan says they are not"},
		{wild, &stub{}, "no subscriptions by a pattern"},
		{queue, &stub{}, "stores messages"},
	} {
		g := made(t, c.plan, c.stub.driver)
		if err := g.Open(t.Context(), nil, Versions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open says %v; want %q", err, c.want)
		}
		if c.stub.removed.Load() != 0 || c.stub.closed.Load() != 1 {
			t.Errorf("%q: Remove was called %d times, Close %d; want 0 and 1: nothing was made", c.want, c.stub.removed.Load(), c.stub.closed.Load())
		}
	}
}

func TestMoreConnectionsThanFilesAreRefusedBeforeTheFirstOne(t *testing.T) {
	real := fileLimit
	defer func() { fileLimit = real }()
	fileLimit = func() int64 { return 256 }
	p, s := testPlan(100, 100), &stub{}
	p.Connections = 300
	err := made(t, p, s.driver).Open(t.Context(), nil, Versions{})
	for _, want := range []string{"300 connections", "allows 256", "ulimit -H -n"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open says %v; want %q", err, want)
		}
	}
}

func TestWhatWasMadeOnTheBrokerIsRemovedWhenTheRunCannotBegin(t *testing.T) {
	p, s := workQueuePlan(100, 100, 1), &stub{noConsumers: errors.New("no consumers today")}
	if err := made(t, p, s.driver).Open(t.Context(), nil, Versions{}); !errors.Is(err, s.noConsumers) {
		t.Errorf("Open says %v; want %v", err, s.noConsumers)
	}
	if s.removed.Load() != 1 || s.closed.Load() != 1 {
		t.Errorf("Remove was called %d times, Close %d; want once each", s.removed.Load(), s.closed.Load())
	}
}

func TestABrokerThatCannotBeTidiedUpIsAnErrorAndNotAHang(t *testing.T) {
	s := &stub{noRemoval: errors.New("it is gone")}
	m := measure(t, testPlan(100, 100), s, nil)
	if len(m.totals.Errors) != 1 || m.totals.Errors[0].Message != "remove: it is gone" || m.state != "complete" {
		t.Errorf("%s: errors %+v; want a complete run, and 'remove: it is gone'", m.state, m.totals.Errors)
	}
}

func TestTheDriverIsToldWhoseTheTopicsAre(t *testing.T) {
	for _, c := range []struct {
		words         string
		create        bool
		index         int
		wantFound     bool
		wantRun       string
		wantConsumers int
	}{
		{"the first client makes them", true, 0, false, "", 3},
		{"the second one takes them", true, 1, true, "", 2},
		{"the user's own", false, 0, true, "mqbench-night-7", 3},
		{"the user's own, of another client", false, 1, true, "mqbench-night-7", 2},
	} {
		p := fanOutPlan(100, 100, 3)
		p.RunID, p.Index, p.Create, p.Client.Count, p.ConsumerConnections = "night", 7, c.create, 2, 4
		p.Client.Index, p.Connections = c.index, 1
		o := p.options("url", nil, nil)
		if o.Found() != c.wantFound || o.Run != c.wantRun || o.Client != c.index || o.Clients != 2 || o.Connections != c.wantConsumers {
			t.Errorf("%s: %+v", c.words, o)
		}
	}
}

func TestTheDriverIsToldWhatThePlanAsksFor(t *testing.T) {
	p := testPlan(100, 100)
	level, replicas, limit := "fsync", 3, int64(10)
	p.DurabilityLevel, p.Replicas, p.InFlight, p.Producers, p.Connections, p.DrainNs, p.TimeoutNs = &level, &replicas, &limit, 5, 2, 70*ms, 7*ms
	o := p.options("url", nil, nil)
	if o.Durability != "fsync" || o.Replicas != 3 || o.InFlight != 30 || o.TimeoutNs != 70*ms || o.Connections != 2 {
		t.Errorf("options %+v; want fsync, 3 replicas, 10 in flight for each of 3 producers, the drain of 70 ms, 2 connections", o)
	}
}

// simple has none of the abilities, whatever is inside.
type simple struct{ broker.Session }

func TestWhatADriverDoesNotCountIsUnknownAndNotZero(t *testing.T) {
	s := &stub{}
	m := measureDriver(t, testPlan(100, 100), func(o broker.Options) (broker.Session, error) {
		_, err := s.driver(o)
		return simple{s}, err
	})
	if m.totals.ClientDropped != nil || m.totals.Reconnects != nil {
		t.Errorf("%d dropped, %d reconnects; want null", m.totals.ClientDropped, m.totals.Reconnects)
	}
	if s.removed.Load() != 0 || m.state != "complete" {
		t.Errorf("%s, %d removals; want a complete run", m.state, s.removed.Load())
	}
}

func TestSettingsOfConsumersThatThePatternHasNotAreLeftOut(t *testing.T) {
	const alone, group, prefetch = "acknowledgeAlone", "acknowledgeInGroup", "prefetch"
	for pattern, want := range map[string][]string{
		roundTrip: {alone, prefetch}, fanOut: {alone, prefetch}, requestReply: {group, alone, prefetch},
		workQueue: {group, prefetch}, backlog: {group, prefetch}, publish: {},
	} {
		said := map[string]string{"confirm": "", alone: "", group: "", prefetch: ""}
		got := (&Plan{Pattern: pattern}).applying(said)
		if len(got) != len(want)+1 || len(said) != 4 {
			t.Errorf("%s: %v of %v; want confirm and %v", pattern, got, said, want)
		}
		for _, name := range append(want, "confirm") {
			if _, there := got[name]; !there {
				t.Errorf("%s: %s is left out", pattern, name)
			}
		}
	}
	written, err := os.ReadFile(filepath.Join(measure(t, testPlan(100, 100), &stub{}, nil).folder, "client-0.jsonl"))
	if err != nil || !strings.Contains(string(written), `"driverOptions":{}`) {
		t.Errorf("%v; a round trip's file has the setting of groups: %s", err, written)
	}
}
