//go:build unix

package rabbitmq

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// BenchmarkRoundTrip is what a message costs on its way through the driver and a transient queue, 100 in flight.
func BenchmarkRoundTrip(b *testing.B) {
	s := running(b)
	for _, confirms := range []string{"true", "false"} {
		b.Run("confirms "+confirms, func(b *testing.B) {
			opened, err := New(broker.Options{
				URL: s.url(), Connections: 1, MessageBytes: 1024, Now: clock.New().Now,
				Driver: []byte(`{"queue": "transient", "confirms": ` + confirms + `}`),
			})
			if err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			if err := opened.Open(ctx); err != nil {
				b.Fatal(err)
			}
			defer opened.Close()
			topic := fmt.Sprintf("rabbitmqbench.%d.0", runs.Add(1))
			if err := opened.Prepare(ctx, broker.Layout{Topics: []broker.Topic{{Name: topic, Partitions: 1}}}); err != nil {
				b.Fatal(err)
			}
			gate := make(chan struct{}, 100)
			var received atomic.Int64
			all := make(chan struct{})
			take := func(broker.Delivery) {
				<-gate
				if received.Add(1) == int64(b.N) {
					close(all)
				}
			}
			if err := opened.Consume(ctx, broker.Subscription{Topic: topic}, take); err != nil {
				b.Fatal(err)
			}
			producer, err := opened.Producer(0)
			if err != nil {
				b.Fatal(err)
			}
			payload := make([]byte, 1024)
			done := func(_ *broker.Message, _ int64, err error) {
				if err != nil {
					b.Error(err)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				gate <- struct{}{}
				producer.Send(&broker.Message{Name: topic, Payload: payload}, done)
			}
			<-all
		})
	}
}
