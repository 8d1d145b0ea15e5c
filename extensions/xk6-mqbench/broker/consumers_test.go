package broker

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestAQueueTakesTheMembersOfOneGroupOrOneConsumer(t *testing.T) {
	var r Readers
	for _, c := range []struct {
		topic, group string
		want         bool
	}{
		{"a", "g", true},
		{"a", "g", true},
		{"a", "h", false},
		{"a", "", false},
		{"a", "g", true},
		{"b", "", true},
		{"b", "", false},
		{"b", "g", false},
		{"c", "h", true},
	} {
		if got := r.Admit(Subscription{Topic: c.topic, Group: c.group}); got != c.want {
			t.Errorf("group %q on %q: %v, want %v", c.group, c.topic, got, c.want)
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
