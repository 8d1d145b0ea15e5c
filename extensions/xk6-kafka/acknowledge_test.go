package kafka

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// By itself the library would commit in an hour.
func TestAMemberCommitsWhatItHasHandled(t *testing.T) {
	s := running(t)
	for _, c := range []struct {
		options string
		// blocksAt: the handler does not return from this message, from 1. 0: it does from all.
		blocksAt, want int64
	}{
		{`{"commitIntervalNs": 3600000000000}`, 4, 3},
		{`{"commitIntervalNs": 3600000000000, "acknowledge": "batch"}`, 0, 5},
		{`{"commitIntervalNs": 100000000, "acknowledge": "interval"}`, 0, 5},
	} {
		t.Run(c.options, func(t *testing.T) {
			opened, err := New(broker.Options{
				URL: s.url, Driver: []byte(c.options), Connections: 2, MessageBytes: 100, Now: clock.New().Now,
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
			defer cancel()
			defer opened.Close()
			topic := "kafkatest.commit." + rand.Text()
			over := make(chan struct{})
			defer close(over)
			var handled atomic.Int64
			handle := func(broker.Delivery) {
				if handled.Add(1) == c.blocksAt {
					<-over
				}
			}
			if err := opened.Open(ctx); err != nil {
				t.Fatal(err)
			}
			if err := opened.Prepare(ctx, broker.Layout{Topics: []broker.Topic{{Name: topic, Partitions: 1}}}); err != nil {
				t.Fatal(err)
			}
			if err := opened.Consume(ctx, broker.Subscription{Connection: 1, Topic: topic, Group: "g"}, handle); err != nil {
				t.Fatal(err)
			}
			producer, err := opened.Producer(0)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				producer.Send(&broker.Message{Name: topic, Payload: make([]byte, 100)}, func(*broker.Message, int64, error) {})
			}
			group, admin := opened.(*session).groupName(topic, "g"), s.admin(t)
			var at int64
			for at != c.want && ctx.Err() == nil {
				time.Sleep(5 * time.Millisecond)
				offsets, err := admin.FetchOffsets(ctx, group)
				if committed, ok := offsets.Lookup(topic, 0); err == nil && ok {
					at = committed.At
				}
			}
			if at != c.want {
				t.Errorf("the broker knows of %d handled messages, want %d of %d", at, c.want, handled.Load())
			}
		})
	}
}
