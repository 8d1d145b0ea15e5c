//go:build unix

package rabbitmq

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// answers notes a consumer's acknowledgements: "3", or "3*" for all up to it.
type answers struct {
	mu   sync.Mutex
	list []string
}

func (a *answers) Ack(tag uint64, multiple bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, fmt.Sprint(tag)+map[bool]string{true: "*"}[multiple])
	return nil
}
func (a *answers) Nack(uint64, bool, bool) error { return nil }
func (a *answers) Reject(uint64, bool) error     { return nil }

func (a *answers) soFar() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.list, " ")
}

func TestAConsumerAcknowledgesAsItIsTold(t *testing.T) {
	for _, c := range []struct {
		way           string
		several, held int
		want          string
	}{
		{broker.Automatic, 1, 0, ""},
		{broker.PerMessage, 1, 5, "1 2 3 4 5"},
		{broker.PerBatch, 50, 5, "5*"},
		{broker.PerBatch, 50, 0, "1 2 3 4 5"},
		{broker.PerBatch, 2, 5, "2* 4* 5"},
		{broker.PerInterval, 5, 0, "5*"},
		{broker.PerInterval, 50, 0, "5*"}, // in time
	} {
		t.Run(fmt.Sprint(c.way, c.several), func(t *testing.T) {
			var told answers
			var handled atomic.Int64
			sub := &subscription{
				session: &session{Base: broker.NewBase("rabbitmq", broker.Options{Now: clock.New().Now}), urls: []string{"amqp://here"}}, acknowledge: c.way, several: c.several,
				handle: func(broker.Delivery) { handled.Add(1) },
			}
			arriving, raw := make(chan amqp.Delivery, 5), &incoming{}
			raw.read.Store(int64(c.held))
			for tag := range 5 {
				arriving <- amqp.Delivery{Acknowledger: &told, DeliveryTag: uint64(tag + 1)}
			}
			go sub.take(raw, arriving)
			defer close(arriving)
			brokertest.Eventually(t, c.want+" are acknowledged", func() bool { return handled.Load() == 5 && told.soFar() == c.want })
		})
	}
}

func TestThePrefetchIsThatOfTheConsumersThatThereAre(t *testing.T) {
	const none, some = "no limit, as nothing is acknowledged", "100 not acknowledged"
	for _, c := range []struct{ options, consumers, want string }{
		{`{"acknowledge": "automatic"}`, "", none},
		{`{"acknowledge": "batch"}`, "", some},
		{``, "", some + "; no limit where nothing is"},
		{``, "-", none},
		{``, "group", some},
		{``, "group -", some + "; no limit where nothing is"},
		{`{"prefetch": 0}`, "group", "no limit"},
	} {
		opened, err := New(broker.Options{URL: "amqp://here", Driver: json.RawMessage(c.options)})
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range strings.Fields(c.consumers) {
			opened.(*session).layout.Subscriptions = append(opened.(*session).layout.Subscriptions, broker.Subscription{Group: strings.Trim(group, "-")})
		}
		if got := opened.Describe().Settings["prefetch"]; got != c.want {
			t.Errorf("options %s, consumers %q: prefetch %q; want %q", c.options, c.consumers, got, c.want)
		}
	}
}

// Messages that a consumer has not handled stay with the broker if it has to acknowledge, except the prefetch.
func TestOnlyAConsumerThatAcknowledgesLeavesMessagesWithTheBroker(t *testing.T) {
	for _, c := range []struct {
		options, group string
		left           int
	}{
		{`{}`, "", 0},
		{`{"acknowledge": "batch", "prefetch": 10}`, "workers", 30},
		{`{"acknowledge": "message", "prefetch": 10}`, "", 30},
		{`{"prefetch": 10}`, "workers", 30},
		{`{"acknowledge": "automatic"}`, "workers", 0},
	} {
		r := begin(t, "os", c.options, broker.Subscription{Connection: 1, Group: c.group})
		over := make(chan struct{})
		defer close(over)
		r.consume(func(broker.Delivery) { <-over })
		for range 40 {
			r.send(100)
		}
		brokertest.Eventually(t, c.options+": all are confirmed", func() bool { return r.ackedSoFar() == 40 })
		on, queue := running(t).channel(t), append(r.session.own.All(), r.topic)[0]
		brokertest.Eventually(t, fmt.Sprintf("%s, group %q: %d stay in the queue", c.options, c.group, c.left), func() bool {
			state, err := on.QueueDeclarePassive(queue, true, false, false, false, nil)
			return err == nil && state.Messages == c.left
		})
	}
}
