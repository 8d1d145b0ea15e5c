package redis

import (
	"sync/atomic"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// BenchmarkSend is one connection as fast as it goes, 1 KiB, until every message is answered. To compare:
// redis-benchmark -p <port> -d 1024 -n 1000000 -c 1 -P 64 -t lpush (and "publish c __rand_int__", "xadd s * p ...").
func BenchmarkSend(b *testing.B) {
	for _, options := range []string{
		`"mode": "pubsub"`, `"mode": "streams"`, `"mode": "lists"`, `"mode": "pubsub", "client": "go-redis"`,
	} {
		b.Run(options, func(b *testing.B) {
			o := broker.Options{URL: startServer(b, "redis-server").url(), Driver: []byte(`{"maxLength": 10000, ` + options + `}`), MessageBytes: 1024}
			session, err := opened(b, o, "bench")
			if err != nil {
				b.Fatal(err)
			}
			producer, _ := session.Producer(0)
			payload := make([]byte, 1024)
			var answered atomic.Int64
			over := make(chan struct{})
			n := int64(b.N)
			done := func(_ *broker.Message, _ int64, err error) {
				if err != nil {
					b.Error(err)
				}
				if answered.Add(1) == n {
					close(over)
				}
			}
			messages := make([]broker.Message, 1<<17) // more than are ever in flight
			b.ResetTimer()
			for i := range n {
				m := &messages[i%int64(len(messages))]
				m.Payload = payload
				producer.Send(m, done)
			}
			<-over
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}
