package kafka

import (
	"sync/atomic"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// prepared is a session that has prepared a topic, with a subscription of each group, and the error of that.
func prepared(t *testing.T, o broker.Options, topic broker.Topic, groups ...string) (*session, error) {
	t.Helper()
	o.Connections, o.Now = 1, clock.New().Now
	opened, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	if err := opened.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	layout := broker.Layout{Topics: []broker.Topic{topic}}
	for _, group := range groups {
		layout.Subscriptions = append(layout.Subscriptions, broker.Subscription{Topic: topic.Name, Group: group})
	}
	return opened.(*session), opened.Prepare(t.Context(), layout)
}

// sends sends messages of 100 bytes and counts the acknowledgements.
func (s *session) sends(t *testing.T, topic string, n int) *atomic.Int64 {
	t.Helper()
	p, err := s.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	var acked atomic.Int64
	for range n {
		p.Send(&broker.Message{Name: topic, Payload: make([]byte, 100)}, func(_ *broker.Message, _ int64, err error) {
			if err == nil {
				acked.Add(1)
			}
		})
	}
	return &acked
}
