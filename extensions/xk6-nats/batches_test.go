package nats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func inBatches(publish string, batch int, linger time.Duration) string {
	return fmt.Sprintf(`{"mode": "jetstream", "publish": %q, "batch": %d, "lingerNs": %d}`, publish, batch, linger.Nanoseconds())
}

// An atomic batch is stored when it is full, or when it lingers; a fast one at once. Both are acknowledged in one go.
func TestWhenABatchIsStoredAndAcknowledged(t *testing.T) {
	const never = 5 * time.Second
	for _, c := range []struct {
		publish       string
		linger        time.Duration
		sent          int
		stored, acked int
	}{
		{publishAtomic, never, 4, 0, 0},
		{publishAtomic, never, 5, 5, 5},
		{publishAtomic, never, 14, 10, 10},
		{publishAtomic, 50 * time.Millisecond, 14, 14, 14},
		{publishFast, never, 4, 4, 0},
		{publishFast, never, 5, 5, 5},
		{publishFast, never, 14, 14, 10},
		{publishFast, 50 * time.Millisecond, 14, 14, 14},
	} {
		t.Run(fmt.Sprintf("%s, %s: %d", c.publish, c.linger, c.sent), func(t *testing.T) {
			t.Parallel()
			s := start(t, stored(t))
			session := opened(t, s.ClientURL(), inBatches(c.publish, 5, c.linger), nil)
			var mu sync.Mutex
			var times []int64
			producer := must(session.Producer(0))(t)
			for i := range c.sent {
				producer.Send(&broker.Message{Name: "a.topic", Payload: []byte{byte(i)}}, func(m *broker.Message, ackNs int64, err error) {
					mu.Lock()
					defer mu.Unlock()
					if errors.Is(err, errLost) { // the test is over
						return
					}
					if err != nil || int(m.Payload[0]) != len(times) {
						t.Errorf("message %d is acknowledged as number %d, %v", m.Payload[0], len(times), err)
					}
					times = append(times, ackNs)
				})
			}
			is := func() (acked, stored int) {
				mu.Lock()
				defer mu.Unlock()
				return len(times), int(info(t, s.ClientURL()).State.Msgs)
			}
			brokertest.Eventually(t, "it is so", func() bool { acked, stored := is(); return acked == c.acked && stored == c.stored })
			if c.linger < never {
				return
			}
			time.Sleep(200 * time.Millisecond)
			if acked, stored := is(); acked != c.acked || stored != c.stored {
				t.Errorf("%d acknowledged and %d stored later; want %d and %d", acked, stored, c.acked, c.stored)
			}
			for batch := range slices.Chunk(times, 5) {
				if c.publish == publishAtomic && slices.Min(batch) != slices.Max(batch) {
					t.Errorf("a batch is acknowledged at %v", batch)
				}
			}
		})
	}
}

func TestAnIdleFastBatchEndsBeforeTheServerForgetsIt(t *testing.T) {
	s := start(t, func(o *server.Options) { stored(t)(o); o.JetStreamLimits.MaxBatchTimeout = 300 * time.Millisecond })
	session := opened(t, s.ClientURL(), inBatches(publishFast, 5, 20*time.Millisecond), nil)
	for k := range 3 {
		send(t, session, 5*k, 5).ends(t, 5, 0)
		time.Sleep(600 * time.Millisecond)
	}
}

func TestABatchThatTheServerRefusesFailsInItsWords(t *testing.T) {
	s := start(t, func(o *server.Options) { stored(t)(o); o.JetStreamLimits.MaxBatchSize = 3 })
	session := opened(t, s.ClientURL(), inBatches(publishAtomic, 5, 50*time.Millisecond), nil)
	refused := send(t, session, 0, 5)
	refused.ends(t, 0, 5)
	if err := refused.failed[0]; !strings.Contains(err.Error(), "batch") {
		t.Errorf("%v; want the server's reason", err)
	}
	send(t, session, 5, 3).ends(t, 3, 0)
	if n := info(t, s.ClientURL()).State.Msgs; n != 3 {
		t.Errorf("%d messages are stored; want 3", n)
	}
	for _, publish := range []string{publishAtomic, publishFast} {
		session := opened(t, s.ClientURL(), inBatches(publish, 2, 50*time.Millisecond), nil)
		if err := broker.Remove(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		send(t, session, 0, 5).ends(t, 0, 5)
		makes(t, s.ClientURL(), jetstream.StreamConfig{Name: publish, Subjects: []string{publish}})
		_, err := opens(t, s.ClientURL(), inBatches(publish, 2, time.Millisecond), func(o *broker.Options) { o.Run = "r" }, publish)
		if err == nil || !strings.Contains(err.Error(), "takes no "+publish+" batches") {
			t.Errorf("%s batches for a stream that takes none: %v", publish, err)
		}
	}
}

func TestBatchesTellTheirFateWhenTheServerIsKilledFrozenAndStartedAgain(t *testing.T) {
	for _, publish := range []string{publishAtomic, publishFast} {
		t.Run(publish, func(t *testing.T) {
			t.Parallel()
			s, url := process(t, "")
			traffic := brokertest.System{Driver: New, URL: url, DriverOptions: []byte(inBatches(publish, 7, 2*time.Millisecond))}.Traffic(t, "")
			for range 100 {
				traffic.Send()
			}
			brokertest.Eventually(t, "some are acknowledged", func() bool { return traffic.Answered() > 0 })
			traffic.Survives(s)
			traffic.NoticesSilence(s)
			traffic.Settles()
			if wrong := traffic.LostOrTwice(); wrong != nil {
				t.Errorf("%d messages are wrong, such as %s", len(wrong), wrong[0])
			}
		})
	}
}
