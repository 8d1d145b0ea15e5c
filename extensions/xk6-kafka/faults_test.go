package kafka

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// bench is a session with one topic, one producer and, if wanted, a consumer.
type bench struct {
	t        *testing.T
	session  broker.Session
	producer broker.Producer
	topic    string

	mu       sync.Mutex
	errs     []error
	failed   int
	acked    int
	sent     int
	lost     []error
	received map[string]int
}

var benches atomic.Int64

func open(t *testing.T, o broker.Options, consume bool) *bench {
	t.Helper()
	b := &bench{t: t, topic: fmt.Sprintf("bench.%d", benches.Add(1)), received: map[string]int{}}
	o.Connections, o.MessageBytes, o.Now = 1, max(o.MessageBytes, 100), clock.New().Now
	o.OnError = func(err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lost = append(b.lost, err)
	}
	session, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	b.session = session
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := session.Open(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if err := session.Prepare(ctx, broker.Layout{Topics: []broker.Topic{{Name: b.topic, Partitions: 1}}}); err != nil {
		t.Fatal(err)
	}
	if consume {
		err := session.Consume(ctx, broker.Subscription{Topic: b.topic}, func(d broker.Delivery) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.received[string(d.Payload)]++
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if b.producer, err = session.Producer(0); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) send() {
	b.mu.Lock()
	b.sent++
	payload := []byte(fmt.Sprintf("%0100d", b.sent))
	b.mu.Unlock()
	b.producer.Send(&broker.Message{Name: b.topic, Payload: payload}, func(_ *broker.Message, _ int64, err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if err != nil {
			b.failed++
			b.errs = append(b.errs, err)
			return
		}
		b.acked++
	})
}

func (b *bench) until(what string, holds func() bool) {
	b.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		b.mu.Lock()
		ok := holds()
		b.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Fatalf("not within a minute: %s: of %d sent %d are acknowledged and %d failed, %d arrived", what, b.sent, b.acked, b.failed, len(b.received))
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAFrozenBrokerFailsMessagesInTheEndAndHoldsUpNeitherSendNorClose(t *testing.T) {
	s := running(t)
	defer s.thaw()
	var all []*bench
	for _, acks := range []string{"1", "all"} {
		b := open(t, broker.Options{URL: s.url, Driver: []byte(`{"acks": "` + acks + `"}`), TimeoutNs: int64(time.Second)}, true)
		b.send()
		b.until("the first message is acknowledged", func() bool { return b.acked == 1 })
		member := broker.Subscription{Topic: b.topic, Group: "workers"}
		if err := b.session.Consume(t.Context(), member, func(broker.Delivery) {}); err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	s.freeze(t)
	began := time.Now()
	for _, b := range all {
		for range 100 {
			b.send()
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("200 sends to a frozen broker took %s", took)
	}
	for _, b := range all {
		b.until("all 100 fail", func() bool { return b.failed == 100 })
	}
	var closing sync.WaitGroup
	for _, b := range all {
		closing.Go(func() { _ = b.session.Close() })
	}
	closed := make(chan struct{})
	go func() { closing.Wait(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Fatal("Close hangs")
	}
}

func TestABrokerThatIsFrozenForASecondLosesNothing(t *testing.T) {
	s := running(t)
	b := open(t, broker.Options{URL: s.url, TimeoutNs: int64(30 * time.Second)}, true)
	thawed := make(chan struct{})
	for i := range 300 {
		if i == 100 {
			s.freeze(t)
			time.AfterFunc(time.Second, func() { s.thaw(); close(thawed) })
		}
		b.send()
		time.Sleep(time.Millisecond)
	}
	<-thawed
	b.until("all 300 are acknowledged and arrive", func() bool { return b.acked == 300 && len(b.received) == 300 })
	for payload, times := range b.received {
		if times != 1 {
			t.Errorf("message %s arrives %d times", payload, times)
		}
	}
	// A second is no reason for any. On a crowded machine one was seen; all messages arrived once there, too.
	if n := *broker.Reconnects(b.session); n > 1 {
		t.Errorf("%d reconnects within a second", n)
	}
}

func TestARestartedBrokerIsFoundAgainAndTheReconnectIsCounted(t *testing.T) {
	s := running(t)
	b := open(t, broker.Options{URL: s.url, TimeoutNs: int64(time.Minute)}, true)
	b.send()
	b.until("the first message arrives", func() bool { return len(b.received) == 1 })
	s.kill()
	b.send()
	s.run(t)
	b.send()
	b.until("all three are acknowledged and arrive", func() bool { return b.acked == 3 && len(b.received) == 3 })
	if n := *broker.Reconnects(b.session); n < 2 {
		t.Errorf("%d reconnects are counted; the sending and the receiving connection were made anew", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lost) == 0 {
		t.Error("nobody is told that connections were lost")
	}
}

// What is set decides nothing if the broker does not do it: strace counts.
func TestTheLogIsFlushedAsTheLevelSays(t *testing.T) {
	needs(t, "strace")
	trace := filepath.Join(t.TempDir(), "strace")
	s := start(t, setup{
		settings: map[string]string{"log.flush.scheduler.interval.ms": "200"},
		under:    []string{"strace", "-f", "-y", "--seccomp-bpf", "-e", "trace=fsync,fdatasync", "-o", trace},
	})
	flushes := func(b *bench) (count int) {
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "/"+b.topic+"-0/") && strings.Contains(line, ".log>") {
				count++
			}
		}
		return count
	}
	const n = 30
	for durability, want := range map[string]int{"fsync": n, "": 0, "os": 0, "memory": 0} {
		b := open(t, broker.Options{URL: s.url, Durability: durability}, false)
		for i := range n {
			b.send()
			b.until("the message is acknowledged", func() bool { return b.acked == i+1 })
		}
		if got := flushes(b); got != want {
			t.Errorf("%q: %d flushes of the log for %d messages, want %d", durability, got, n, want)
		}
	}
	b := open(t, broker.Options{URL: s.url, Durability: "interval"}, false)
	b.send()
	b.until("the log is flushed", func() bool { return flushes(b) > 0 })

	session, err := New(broker.Options{URL: running(t).url, Durability: "interval", Connections: 1, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	err = session.Open(context.Background())
	if err == nil || !strings.Contains(err.Error(), "set log.flush.scheduler.interval.ms=1000") {
		t.Errorf("Open on a broker that never looks = %v; want what to set", err)
	}
}
