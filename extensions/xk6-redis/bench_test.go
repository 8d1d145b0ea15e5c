package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// BenchmarkSend is one connection as fast as it goes, 1 KiB, until every message is answered. To compare:
// redis-benchmark -p <port> -d 1024 -n 1000000 -c 1 -P 64 -t lpush (and "publish c __rand_int__", "xadd s * p ...").
func BenchmarkSend(b *testing.B) {
	for _, mode := range []string{modePubSub, modeStreams, modeLists} {
		b.Run(mode, func(b *testing.B) {
			session, producer := benchSession(b, mode)
			defer func() { _ = session.Close() }()
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

// BenchmarkLibraryPipeline is what the link is measured against: go-redis' own pipelines, which wait for the answers to one
// before they write the next one.
func BenchmarkLibraryPipeline(b *testing.B) {
	for _, size := range []int{64, 1024} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := startServer(b, "redis-server")
			client := redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", s.port), PoolSize: 1, Protocol: protocol})
			defer func() { _ = client.Close() }()
			payload := make([]byte, 1024)
			ctx := context.Background()
			b.ResetTimer()
			for sent := 0; sent < b.N; sent += size {
				_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
					for range min(size, b.N-sent) {
						p.Publish(ctx, "bench", payload)
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}

func benchSession(b *testing.B, mode string) (broker.Session, broker.Producer) {
	b.Helper()
	s := startServer(b, "redis-server")
	session, err := New(broker.Options{
		URL: s.url(), Driver: json.RawMessage(fmt.Sprintf(`{"mode": %q, "maxLength": 10000}`, mode)), Connections: 1,
		MessageBytes: 1024, Now: clock.New().Now,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	if err := session.Open(ctx); err != nil {
		b.Fatal(err)
	}
	if err := session.Prepare(ctx, broker.Layout{Topics: []broker.Topic{{Name: "bench", Partitions: 1}}}); err != nil {
		b.Fatal(err)
	}
	producer, err := session.Producer(0)
	if err != nil {
		b.Fatal(err)
	}
	return session, producer
}
