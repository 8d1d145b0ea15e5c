package kafka

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// bench is a session with one topic, one producer and what went through them.
type bench struct {
	*session
	t        *testing.T
	topic    string
	producer broker.Producer

	mu       sync.Mutex
	sent     int
	acked    int
	errs     []error
	lost     []error
	received map[string]int
}

var benches atomic.Int64

// prepared is a session that has prepared a topic, with a subscription of each group ("" is none), and the error of that.
func prepared(t *testing.T, o broker.Options, topic broker.Topic, groups ...string) (*bench, error) {
	t.Helper()
	b := &bench{t: t, topic: topic.Name, received: map[string]int{}}
	o.Connections, o.MessageBytes, o.Now = 1, max(o.MessageBytes, 100), clock.New().Now
	o.OnError = func(err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lost = append(b.lost, err)
	}
	opened, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	if err := opened.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.session = opened.(*session)
	layout := broker.Layout{Topics: []broker.Topic{topic}}
	for _, group := range groups {
		layout.Subscriptions = append(layout.Subscriptions, broker.Subscription{Topic: topic.Name, Group: group})
	}
	return b, opened.Prepare(t.Context(), layout)
}

// open makes the subscriptions, too.
func open(t *testing.T, o broker.Options, groups ...string) *bench {
	t.Helper()
	b, err := prepared(t, o, broker.Topic{Name: fmt.Sprintf("bench.%d", benches.Add(1)), Partitions: 1}, groups...)
	for i := 0; i < len(groups) && err == nil; i++ {
		err = b.Consume(t.Context(), b.layout.Subscriptions[i], func(d broker.Delivery) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.received[string(d.Payload)]++
		})
	}
	if err == nil {
		b.producer, err = b.Producer(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) send() {
	b.mu.Lock()
	b.sent++
	payload := fmt.Appendf(nil, "%0100d", b.sent)
	b.mu.Unlock()
	b.producer.Send(&broker.Message{Name: b.topic, Payload: payload}, func(_ *broker.Message, _ int64, err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if err != nil {
			b.errs = append(b.errs, err)
			return
		}
		b.acked++
	})
}

func (b *bench) until(what string, holds func() bool) {
	b.t.Helper()
	brokertest.Eventually(b.t, what, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return holds()
	})
}

// acks sends a message that is acknowledged.
func (b *bench) acks() {
	b.t.Helper()
	before := b.acked
	b.send()
	b.until("the message is acknowledged", func() bool { return b.acked > before })
}

// unknown are the errors that leave open what became of the message.
func unknown(errs []error) (n int) {
	for _, err := range errs {
		if errors.Is(err, broker.ErrUnknown) {
			n++
		}
	}
	return n
}
