package broker

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestALayoutCountsMembersAndSeesWhoTakesWhoseMessages(t *testing.T) {
	of := func(topic, group string, client int) Subscription {
		return Subscription{Topic: topic, Group: group, Client: client}
	}
	for _, c := range []struct {
		subscriptions []Subscription
		all, here     int
		rivals        bool
	}{
		{nil, 1, 1, false},
		{[]Subscription{of("a", "g", 0), of("a", "g", 1), of("a", "g", 1), of("b", "g", 0), of("c", "", 0)}, 3, 2, false},
		{[]Subscription{of("a", "g", 0), of("a", "h", 0)}, 1, 1, true},
		{[]Subscription{of("a", "g", 1), of("a", "", 0)}, 1, 1, true},
		{[]Subscription{of("a", "", 0), of("a", "", 1)}, 1, 1, true},
	} {
		l := Layout{Subscriptions: c.subscriptions}
		if all, here := l.Members(of("a", "g", 1)); all != c.all || here != c.here || (l.Rivals() != nil) != c.rivals {
			t.Errorf("%v: %d members, %d on client 1, %v; want %d, %d, rivals: %t", c.subscriptions, all, here, l.Rivals(), c.all, c.here, c.rivals)
		}
	}
}

func TestAListKeepsWhatAnyGoroutineAdds(t *testing.T) {
	var l List[int]
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() { l.Add(i) })
	}
	all.Wait()
	got := l.All()
	slices.Sort(got)
	if len(got) != 100 || got[0] != 0 || got[99] != 99 {
		t.Errorf("%v; want 0 to 99", got)
	}
	got[0] = -1
	if slices.Contains(l.All(), -1) {
		t.Error("the caller's slice is that of the list")
	}
}

func TestACompletionHasATimeOrAnError(t *testing.T) {
	var at int64
	var said error
	done := Done(func(_ *Message, ackNs int64, err error) { at, said = ackNs, err })
	if done.Settle(nil, 7, nil); at != 7 || said != nil {
		t.Errorf("%d, %v; want 7 and no error", at, said)
	}
	if done.Settle(nil, 7, ErrUnknown); at != 0 || !errors.Is(said, ErrUnknown) {
		t.Errorf("%d, %v; want the error alone", at, said)
	}
}
