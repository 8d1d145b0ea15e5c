package broker

import "testing"

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
