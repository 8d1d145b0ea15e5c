package kafka

import (
	"sync/atomic"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// By itself the library would commit in an hour.
func TestAMemberCommitsWhatItHasHandled(t *testing.T) {
	s := running(t)
	for i, c := range []struct {
		options string
		// blocksAt is the first message, from 1, from which the handler does not return; 0 means that it always returns.
		blocksAt, want int64
	}{
		{`{"commitIntervalNs": 3600000000000}`, 4, 3},
		{`{"commitIntervalNs": 3600000000000, "acknowledge": "batch"}`, 0, 5},
		{`{"commitIntervalNs": 100000000, "acknowledge": "interval"}`, 0, 5},
	} {
		t.Run(c.options, func(t *testing.T) {
			topic := broker.Topic{Name: []string{"commit.each", "commit.batch", "commit.interval"}[i], Partitions: 1}
			b, err := prepared(t, broker.Options{URL: s.url, Driver: []byte(c.options), MessageBytes: 100}, topic, "g")
			if err != nil {
				t.Fatal(err)
			}
			over := make(chan struct{})
			defer close(over)
			var handled atomic.Int64
			err = b.Consume(t.Context(), b.layout.Subscriptions[0], func(broker.Delivery) {
				if handled.Add(1) == c.blocksAt {
					<-over
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			b.sends(t, topic.Name, 5)
			admin := s.admin(t)
			brokertest.Eventually(t, "the broker knows what is handled", func() bool {
				offsets, err := admin.FetchOffsets(t.Context(), topic.Name+".g")
				committed, ok := offsets.Lookup(topic.Name, 0)
				return err == nil && ok && committed.At == c.want
			})
		})
	}
}

// Messages without a key name partition 0 here, and sticky does not look at it.
func TestAStickyPartitionerChoosesThePartitionItself(t *testing.T) {
	topic := broker.Topic{Name: "sticky", Partitions: 4}
	s := running(t)
	b, err := prepared(t, broker.Options{URL: s.url, Driver: []byte(`{"partitioner": "sticky"}`), MessageBytes: 100}, topic)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Describe().Order; got != "none" {
		t.Errorf("order = %q, want none", got)
	}
	p, err := b.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		acked := make(chan error)
		p.Send(&broker.Message{Name: topic.Name, Payload: make([]byte, 100)}, func(_ *broker.Message, _ int64, err error) { acked <- err })
		if err := <-acked; err != nil {
			t.Fatal(err)
		}
	}
	ends, err := s.admin(t).ListEndOffsets(t.Context(), topic.Name)
	if err != nil {
		t.Fatal(err)
	}
	all, used := int64(0), 0
	for _, end := range ends[topic.Name] {
		all += end.Offset
		used += int(min(1, end.Offset))
	}
	if all != 50 || used < 2 {
		t.Errorf("%d messages in %d partitions, want 50 in several", all, used)
	}
}
