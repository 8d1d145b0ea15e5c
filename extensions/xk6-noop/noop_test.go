package noop

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestConformance(t *testing.T) {
	brokertest.Run(t, func(*testing.T) brokertest.System { return brokertest.System{Driver: New, Partitions: true} })
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "noop", New, "", "")
}

func TestMembersOfAGroupTakeTurns(t *testing.T) {
	got := make([]int, 3)
	p := open(t, 3, func(member int) { got[member]++ })
	for range 30 {
		p.Send(&broker.Message{Name: "a"}, func(*broker.Message, int64, error) {})
	}
	for member, n := range got {
		if n != 10 {
			t.Errorf("member %d gets %d of 30 messages; want 10", member, n)
		}
	}
}

func BenchmarkSend(b *testing.B) {
	for name, members := range map[string]int{"one consumer": 1, "a group of 4": 4} {
		b.Run(name, func(b *testing.B) {
			p := open(b, members, func(int) {})
			m := &broker.Message{Name: "a"}
			done := func(*broker.Message, int64, error) {}
			for range b.N {
				p.Send(m, done)
			}
		})
	}
}

// open is a session with this number of members of a group.
func open(t testing.TB, members int, note func(member int)) broker.Producer {
	t.Helper()
	s, err := New(broker.Options{Now: func() int64 { return 0 }})
	if err == nil {
		err = s.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: "a"}}})
	}
	for member := range members {
		if err == nil {
			err = s.Consume(t.Context(), broker.Subscription{Topic: "a", Group: "g"}, func(broker.Delivery) { note(member) })
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	p, _ := s.Producer(0)
	return p
}
