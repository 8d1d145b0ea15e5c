//go:build unix

package rabbitmq

import (
	"sync/atomic"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// BenchmarkRoundTrip is what a message costs on its way through the driver and a transient queue, 100 in flight.
func BenchmarkRoundTrip(b *testing.B) {
	for _, confirms := range []string{"true", "false"} {
		b.Run("confirms "+confirms, func(b *testing.B) {
			layout := layoutOf([]string{"0"}, broker.Subscription{Topic: "0"})
			session := opened(b, broker.Options{URL: running(b).url(), Driver: []byte(`{"queue": "transient", "confirms": ` + confirms + `}`)}, layout)
			gate := make(chan struct{}, 100)
			var received atomic.Int64
			all := make(chan struct{})
			take := func(broker.Delivery) {
				<-gate
				if received.Add(1) == int64(b.N) {
					close(all)
				}
			}
			if err := session.Consume(b.Context(), layout.Subscriptions[0], take); err != nil {
				b.Fatal(err)
			}
			producer, err := session.Producer(0)
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
				producer.Send(&broker.Message{Name: layout.Topics[0].Name, Payload: payload}, done)
			}
			<-all
		})
	}
}
