package noop

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestConformance(t *testing.T) {
	brokertest.Run(t, func(*testing.T) brokertest.System { return brokertest.System{Driver: New, Partitions: true} })
}

// open is a session with the topics a.x and a.y, whose messages go to note by the name of the subscription.
func open(t testing.TB, subscriptions map[string]broker.Subscription, note func(name string)) broker.Producer {
	t.Helper()
	s, err := New(broker.Options{Now: func() int64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(context.Background(), broker.Layout{Topics: []broker.Topic{{Name: "a.x"}, {Name: "a.y"}}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(subscriptions)) {
		if err := s.Consume(context.Background(), subscriptions[name], func(broker.Delivery) { note(name) }); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func send(p broker.Producer, topics ...string) {
	for _, topic := range topics {
		p.Send(&broker.Message{Name: topic}, func(*broker.Message, int64, error) {})
	}
}

func TestMembersOfAGroupTakeTurnsAndOthersGetAll(t *testing.T) {
	got := map[string]int{}
	p := open(t, map[string]broker.Subscription{
		"member 1": {Topic: "a.x", Group: "g"}, "member 2": {Topic: "a.x", Group: "g"}, "member 3": {Topic: "a.x", Group: "g"},
		"another group": {Topic: "a.x", Group: "h"},
		"one":           {Topic: "a.x"}, "two": {Topic: "a.x"},
	}, func(name string) { got[name]++ })
	for range 30 {
		send(p, "a.x")
	}
	for name, want := range map[string]int{"member 1": 10, "member 2": 10, "member 3": 10, "another group": 30, "one": 30, "two": 30} {
		if got[name] != want {
			t.Errorf("%s gets %d of 30 messages; want %d", name, got[name], want)
		}
	}
}

func TestAPatternStandsForOneWord(t *testing.T) {
	got := map[string]int{}
	p := open(t, map[string]broker.Subscription{"all": {Topic: "a.*", Wildcard: true}}, func(name string) { got[name]++ })
	send(p, "a.x", "a.y", "b.x", "a")
	if got["all"] != 2 {
		t.Errorf("the pattern gets %d messages; want 2", got["all"])
	}
}

func BenchmarkSend(b *testing.B) {
	for name, subscriptions := range map[string]map[string]broker.Subscription{
		"one consumer": {"a": {Topic: "a.x"}},
		"a group of 4": {"a": {Topic: "a.x", Group: "g"}, "b": {Topic: "a.x", Group: "g"}, "c": {Topic: "a.x", Group: "g"}, "d": {Topic: "a.x", Group: "g"}},
	} {
		b.Run(name, func(b *testing.B) {
			p := open(b, subscriptions, func(string) {})
			m := &broker.Message{Name: "a.x"}
			done := func(*broker.Message, int64, error) {}
			for range b.N {
				p.Send(m, done)
			}
		})
	}
}
