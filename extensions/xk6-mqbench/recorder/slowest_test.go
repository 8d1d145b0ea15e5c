package recorder

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTheSlowestAreThoseOfTheSortedMessages(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	r := New(3, frame(0, secondNs), nil)
	var all []int64
	for i := range int64(5000) {
		response := random.Int64N(1_000_000)
		all = append(all, response)
		s := r.Shard(int(i))
		s.Enter()
		s.Completed(i, 10, 10+response, 10+response/4, response/8)
		s.Leave()
	}
	slices.Sort(all)
	slices.Reverse(all)
	got := r.Slowest()
	if len(got) != SlowestKept {
		t.Fatalf("%d messages are kept; want %d", len(got), SlowestKept)
	}
	for k, m := range got {
		if m.ResponseNs != all[k] {
			t.Errorf("number %d of the slowest took %d; want %d", k, m.ResponseNs, all[k])
		}
		if m.ResponseNs != m.QueuedNs+m.LagNs+m.ServiceNs {
			t.Errorf("%+v does not add up", m)
		}
	}
}

func TestMessagesOfTheWarmUpAreNotAmongTheSlowest(t *testing.T) {
	r := New(1, Frame{StartNs: secondNs, EndNs: 2 * secondNs, First: 2, Metrics: Metrics(), WarmUp: true}, nil)
	s := r.Shard(0)
	s.Enter()
	s.Completed(1, 5, 900_000, 5, 0)
	s.Completed(2, secondNs, secondNs+10, secondNs, 0)
	s.Leave()
	if got := r.Slowest(); len(got) != 1 || got[0].Index != 2 {
		t.Errorf("slowest = %+v; want message 2 alone", got)
	}
}
