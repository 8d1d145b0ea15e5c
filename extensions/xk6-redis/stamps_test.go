package redis

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// A member of a group that works 10 ms on each message takes them one after the other: what waits in the client behind a slow one
// has not been received yet. That is what the drivers for Kafka (per record), NATS and RabbitMQ (per message) stamp.
func TestAMessageBehindASlowOneIsNotReceivedYet(t *testing.T) {
	const n, work = 20, 10 * time.Millisecond
	for _, mode := range []string{modeStreams, modeLists} {
		t.Run(mode, func(t *testing.T) {
			r := newRig(t, startServer(t, "redis-server").url(), `{"mode": "`+mode+`"}`, "t.0", "workers")
			hidden := make(chan int64, n)
			err := r.session.Consume(t.Context(), r.consumers[0], func(d broker.Delivery) {
				hidden <- r.session.Now() - d.ReceivedNs
				time.Sleep(work)
			})
			if err != nil {
				t.Fatal(err)
			}
			r.sendAll(n)
			r.eventually("all are handled", func() bool { return len(hidden) == n })
			for range n {
				if ns := <-hidden; ns > int64(work) {
					t.Errorf("a message was stamped as received %v before the consumer took it: its wait behind slow ones is in no number", time.Duration(ns))
				}
			}
		})
	}
}
