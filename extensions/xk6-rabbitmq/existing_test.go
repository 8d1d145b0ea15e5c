//go:build unix

package rabbitmq

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func (s *session) count(t *testing.T, to broker.Subscription) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	if err := s.Consume(t.Context(), to, func(broker.Delivery) { n.Add(1) }); err != nil {
		t.Fatal(err)
	}
	return &n
}

func (s *session) sendTo(t *testing.T, topic string) {
	t.Helper()
	p, err := s.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	p.Send(&broker.Message{Name: topic, Payload: make([]byte, 100)}, func(_ *broker.Message, _ int64, err error) { told <- err })
	if err := <-told; err != nil {
		t.Fatal(err)
	}
}

func TestAQueueOfTheUsersOwnIsNotConsumedWhereThatWouldTakeMessagesAway(t *testing.T) {
	s := running(t)
	all := layoutOf([]string{"full", "read", "once"})
	names := all.Names()
	for _, name := range names {
		s.make(t, name, "queue")
	}
	on := s.channel(t)
	if err := on.Confirm(false); err != nil {
		t.Fatal(err)
	}
	stored, err := on.PublishWithDeferredConfirm("", names[0], false, false, amqp.Publishing{Body: []byte("theirs")})
	if err != nil || !stored.Wait() {
		t.Fatalf("publish: %v", err)
	}
	if _, err := on.Consume(names[1], "", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	session := opened(t, broker.Options{URL: s.url(), Part: broker.Part{Run: "run-1"}}, all)
	for _, c := range []struct {
		topic  string
		groups []string
		want   string
	}{
		{names[0], []string{"workers"}, "holds 1 messages, which consumers of this run would take away"},
		{names[1], []string{"workers"}, "has 1 consumers already, which take messages away from this run"},
		{names[2], []string{"", ""}, "name an exchange if each of several consumers is to get all messages"},
		{names[2], []string{"workers", "workers"}, ""},
	} {
		layout := broker.Layout{Topics: all.Topics}
		for _, group := range c.groups {
			layout.Subscriptions = append(layout.Subscriptions, broker.Subscription{Topic: c.topic, Group: group})
		}
		err := session.Prepare(t.Context(), layout)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("Prepare with consumers of %s = %v; want %q", c.topic, err, c.want)
		}
	}
	if is, err := on.QueueDeclarePassive(names[0], true, false, false, false, nil); err != nil || is.Messages != 1 {
		t.Errorf("the queue has %d messages (%v); it had one", is.Messages, err)
	}
}

func TestClientsOfARunAgreeOnTheExchange(t *testing.T) {
	s := running(t)
	layout := layoutOf([]string{"0", "1"}, broker.Subscription{Topic: "*", Wildcard: true})
	names := layout.Names()
	first := opened(t, broker.Options{URL: s.url(), Part: broker.Part{Clients: 2}}, layout)
	got := first.count(t, layout.Subscriptions[0])
	second := opened(t, broker.Options{URL: s.url(), Part: broker.Part{Clients: 2, Client: 1}}, layout)
	second.sendTo(t, names[0])
	second.sendTo(t, names[1])
	brokertest.Eventually(t, "the first client's pattern gets both", func() bool { return got.Load() == 2 })
	if err := second.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.sendTo(t, names[0])
	brokertest.Eventually(t, "and what is sent when the second one has gone", func() bool { return got.Load() == 3 })
	if err := first.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.exists(t, names[0]) {
		t.Error("an exchange is left")
	}
}

func TestTopicsHaveAQueueOfTheirNameExceptWhereEachSubscriberHasOneOfItsOwn(t *testing.T) {
	s := running(t)
	layout := layoutOf([]string{"group", "others", "own", "unread"}, broker.Subscription{Topic: "group", Group: "workers"},
		broker.Subscription{Client: 1, Topic: "others", Group: "workers"}, broker.Subscription{Client: 1, Topic: "own"})
	there := func() (list []bool) {
		for _, name := range layout.Names() {
			_, err := s.channel(t).QueueDeclarePassive(name, true, false, false, false, nil)
			list = append(list, err == nil)
		}
		return list
	}
	first := opened(t, broker.Options{URL: s.url(), Part: broker.Part{Clients: 2}}, layout)
	second := opened(t, broker.Options{URL: s.url(), Part: broker.Part{Clients: 2, Client: 1}}, layout)
	first.count(t, layout.Subscriptions[0])
	second.count(t, layout.Subscriptions[1])
	second.count(t, layout.Subscriptions[2])
	if err := second.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list := there(); !slices.Equal(list, []bool{true, true, false, true}) {
		t.Errorf("when client 1 has gone there are the queues %v of %v; want all but the third", list, layout.Names())
	}
	_ = second.Close()
	if err := first.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list := there(); slices.Contains(list, true) {
		t.Errorf("the queues %v of %v are left", list, layout.Names())
	}
}
