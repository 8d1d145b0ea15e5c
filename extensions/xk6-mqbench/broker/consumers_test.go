package broker

import (
	"errors"
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

// holder may or may not be able to count waiting messages.
type holder struct {
	Session
	known bool
}

func (h holder) Held() (int64, bool) { return 7, h.known }

func TestWhatWaitsIsANumberOnlyWhereItIsKnown(t *testing.T) {
	if n := Held(holder{known: true}); n == nil || *n != 7 {
		t.Errorf("known: %v", n)
	}
	if n := Held(holder{}); n != nil {
		t.Errorf("unknown: %d", *n)
	}
}
