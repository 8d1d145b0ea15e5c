//go:build unix

package rabbitmq

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// client is one of several sessions of a run on the topics.
func client(t *testing.T, url string, part broker.Part, topics ...string) *session {
	t.Helper()
	o := broker.Options{Part: part, URL: url, Connections: 2, MessageBytes: 100, Now: clock.New().Now}
	opened, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := opened.Open(ctx); err != nil {
		t.Fatal(err)
	}
	var all []broker.Topic
	for _, name := range topics {
		all = append(all, broker.Topic{Name: name, Partitions: 1})
	}
	if err := opened.Prepare(ctx, broker.Layout{Topics: all}); err != nil {
		t.Fatal(err)
	}
	return opened.(*session)
}

// topicsOf gives names that no other test has, with one prefix.
func topicsOf(short ...string) (names []string) {
	number := runs.Add(1)
	for _, name := range short {
		names = append(names, fmt.Sprintf("rabbitmqtest.%d.%d.%s", os.Getpid(), number, name))
	}
	return names
}

func (s *session) count(t *testing.T, to broker.Subscription) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.Consume(ctx, to, func(broker.Delivery) { n.Add(1) }); err != nil {
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
	ofUser := broker.Part{Run: "run-1"}
	names := topicsOf("full", "read", "once")
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
	session := client(t, s.url(), ofUser, names...)
	for _, c := range []struct {
		topic, group, want string
	}{
		{names[0], "workers", "the queue holds 1 messages, which consumers of this run would take away"},
		{names[1], "workers", "the queue has 1 consumers already, which take messages away from this run"},
		{names[2], "", ""},
		{names[2], "", "a queue gives each message to one consumer"},
	} {
		err := session.Consume(t.Context(), broker.Subscription{Topic: c.topic, Group: c.group}, func(broker.Delivery) {})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("Consume %s = %v; want %q", c.topic, err, c.want)
		}
	}
	if is, err := on.QueueDeclarePassive(names[0], true, false, false, false, nil); err != nil || is.Messages != 1 {
		t.Errorf("the queue has %d messages (%v); it had one", is.Messages, err)
	}
}

func TestClientsOfARunAgreeOnTheExchange(t *testing.T) {
	s := running(t)
	names := topicsOf("0", "1")
	first := client(t, s.url(), broker.Part{Clients: 2}, names...)
	got := first.count(t, broker.Subscription{Topic: names[0][:len(names[0])-1] + "*", Wildcard: true})
	// The second one has no subscription that would tell it.
	second := client(t, s.url(), broker.Part{Clients: 2, Client: 1}, names...)
	second.sendTo(t, names[0])
	second.sendTo(t, names[1])
	eventually(t, "the first client's pattern gets both", func() bool { return got.Load() == 2 })
	if err := second.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.sendTo(t, names[0])
	eventually(t, "and what is sent when the second one has gone", func() bool { return got.Load() == 3 })
	if err := first.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.exists(t, names[0]) {
		t.Error("an exchange is left")
	}
}

func TestATopicThatAnotherClientReadsGetsNoQueueThatNobodyReadsAndItsGroupIsRemoved(t *testing.T) {
	s := running(t)
	names := topicsOf("0", "1", "2")
	first := client(t, s.url(), broker.Part{Clients: 2}, names...)
	first.count(t, broker.Subscription{Topic: names[0], Group: "workers"})
	if _, err := first.Producer(0); err != nil {
		t.Fatal(err)
	}
	second := client(t, s.url(), broker.Part{Clients: 2, Client: 1}, names...)
	second.count(t, broker.Subscription{Topic: names[1], Group: "workers"})
	second.count(t, broker.Subscription{Topic: names[2]})
	there := func(name string) bool {
		c, err := amqp.Dial(s.url())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		on, err := c.Channel()
		if err != nil {
			t.Fatal(err)
		}
		_, err = on.QueueDeclarePassive(name, true, false, false, false, nil)
		return err == nil
	}
	if there(names[2]) {
		t.Errorf("there is a queue %s that nobody reads", names[2])
	}
	if err := second.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !there(names[1]) {
		t.Errorf("client 1 has removed the queue %s of the run's group", names[1])
	}
	_ = second.Close()
	if err := first.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if there(name) {
			t.Errorf("the queue %s is left", name)
		}
	}
}
