package redis

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func TestAMemberAcknowledgesAsItIsTold(t *testing.T) {
	s := startServer(t, "redis-server")
	client := s.client(t)
	for _, c := range []struct {
		options, group string
		// command that acknowledges, how often at most for 21 messages, and how many it has to do for while the first is handled.
		command     string
		least, most int
		pending     int64
	}{
		{`{"mode": "streams"}`, "g", "xack", 21, 21, 1},
		{`{"mode": "streams", "client": "go-redis"}`, "g", "xack", 21, 21, 1},
		{`{"mode": "streams", "acknowledge": "batch"}`, "g", "xack", 2, 2, 1},
		{`{"mode": "streams", "acknowledge": "interval"}`, "g", "xack", 1, 2, 1},
		{`{"mode": "streams", "acknowledge": "automatic"}`, "g", "xack", 0, 0, 0},
		{`{"mode": "lists"}`, "g", "lrem", 21, 21, 1},
		{`{"mode": "lists", "client": "go-redis"}`, "g", "lrem", 21, 21, 1},
		{`{"mode": "lists"}`, "", "lrem", 0, 0, 0},
	} {
		t.Run(c.options+c.group, func(t *testing.T) {
			ctx := t.Context()
			if err := client.ConfigResetStat(ctx).Err(); err != nil {
				t.Fatal(err)
			}
			topic := "acknowledge." + rand.Text()
			to := broker.Subscription{Topic: topic, Group: c.group}
			session, err := opened(t, broker.Options{URL: s.url(), Driver: []byte(c.options)}, topic, to)
			if err != nil {
				t.Fatal(err)
			}
			began, over := make(chan struct{}, 21), make(chan struct{})
			handle := func(broker.Delivery) { began <- struct{}{}; <-over }
			if err := session.Consume(ctx, to, handle); err != nil {
				t.Fatal(err)
			}
			producer, _ := session.Producer(0)
			var sent sync.WaitGroup
			send := func() {
				sent.Add(1)
				producer.Send(&broker.Message{Name: topic, Payload: make([]byte, 100)}, func(_ *broker.Message, _ int64, err error) {
					if err != nil {
						t.Error(err)
					}
					sent.Done()
				})
			}
			send()
			<-began
			for range 20 {
				send()
			}
			sent.Wait()
			pending := func() int64 {
				if c.command == "lrem" {
					return client.LLen(ctx, session.consumers[0].taken).Val()
				}
				return client.XPending(ctx, topic, "g").Val().Count
			}
			if n := pending(); n != c.pending {
				t.Errorf("%d messages wait for an acknowledgement, want %d", n, c.pending)
			}
			close(over)
			for range 20 {
				<-began
			}
			calls := func() (n int) {
				_, after, _ := strings.Cut(client.Info(ctx, "commandstats").Val(), "cmdstat_"+c.command+":calls=")
				_, _ = fmt.Sscan(strings.Split(after, ",")[0], &n)
				return n
			}
			for deadline := time.Now().Add(30 * time.Second); (pending() > 0 || calls() < c.least) && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond)
			}
			if n := calls(); pending() > 0 || n < c.least || n > c.most {
				t.Errorf("%s is sent %d times, want %d to %d, and %d messages still wait for it", c.command, n, c.least, c.most, pending())
			}
		})
	}
}
