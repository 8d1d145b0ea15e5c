package kafka

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestAFrozenBrokerFailsMessagesInTheEndAndHoldsUpNeitherSendNorClose(t *testing.T) {
	s := running(t)
	defer s.thaw()
	var all []*bench
	for _, acks := range []string{"1", "all"} {
		b := open(t, broker.Options{URL: s.url, Driver: []byte(`{"acks": "` + acks + `"}`), TimeoutNs: int64(time.Second)}, "", "workers")
		b.acks()
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
	defer func(usual time.Duration) { readyTimeout = usual }(readyTimeout)
	readyTimeout = time.Second
	if _, err := all[0].Producer(0); err == nil || !strings.Contains(err.Error(), "connection 1 is not ready within 1s: ") ||
		!strings.Contains(err.Error(), "; kafka: the topics get no leaders: ") {
		t.Errorf("Producer = %v; want how long it took, and what the brokers say", err)
	}
	for _, b := range all {
		b.until("all 100 fail", func() bool { return len(b.errs) == 100 })
		if unknown(b.errs) == 0 {
			t.Errorf("the broker would take the first when it wakes, and all are counted as failed: %v", b.errs[0])
		}
	}
	var closing sync.WaitGroup
	for _, b := range all {
		closing.Go(func() { _ = b.Close() })
	}
	closed := make(chan struct{})
	go func() { closing.Wait(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Fatal("Close hangs")
	}
}

func TestARestartedBrokerIsFoundAgainAndTheReconnectIsCounted(t *testing.T) {
	s := running(t)
	b := open(t, broker.Options{URL: s.url, TimeoutNs: int64(time.Minute)}, "")
	b.send()
	b.until("the first message arrives", func() bool { return len(b.received) == 1 })
	s.kill()
	b.send()
	s.run(t)
	b.send()
	b.until("all three are acknowledged and arrive", func() bool { return b.acked == 3 && len(b.received) == 3 })
	if n := b.Reconnects(); n < 2 {
		t.Errorf("%d reconnects are counted; the sending and the receiving connection were made anew", n)
	}
	b.until("lost connections are reported", func() bool { return len(b.lost) > 0 })
}

// As with NATS, Redis and RabbitMQ: a message that was written and whose connection was lost before its answer may have arrived, so its fate is
// unknown. What is sent after the broker has died has never left: it failed.
func TestWhatIsSentToABrokerThatDies(t *testing.T) {
	s := running(t)
	both := map[string]*bench{}
	for _, acks := range []string{"1", "all"} {
		both[acks] = open(t, broker.Options{URL: s.url, Driver: []byte(`{"acks": "` + acks + `"}`), TimeoutNs: int64(3 * time.Second)})
		both[acks].acks()
	}
	s.freeze(t)
	for _, b := range both {
		b.send() // the kernel takes it: it has left
	}
	time.Sleep(500 * time.Millisecond)
	s.kill()
	for acks, b := range both {
		b.until("the second is completed", func() bool { return b.acked+len(b.errs) == 2 })
		if unknown(b.errs) != len(b.errs) {
			t.Errorf("acks %s: %v: counted as failed, though it may have arrived", acks, b.errs)
		}
	}
	time.Sleep(time.Second)
	for range 10 {
		for _, b := range both {
			b.send()
		}
		time.Sleep(50 * time.Millisecond)
	}
	for acks, b := range both {
		b.until("all are completed", func() bool { return b.acked+len(b.errs) == 12 })
		// The first may go into a socket of which the client has not heard yet that nobody reads it.
		if n := unknown(b.errs[1:]); n > 1 {
			t.Errorf("acks %s: %d of 10 messages that never left are unknown: %v", acks, n, b.errs)
		}
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
		b := open(t, broker.Options{URL: s.url, Durability: durability})
		for range n {
			b.acks()
		}
		if got := flushes(b); got != want {
			t.Errorf("%q: %d flushes of the log for %d messages, want %d", durability, got, n, want)
		}
	}
	b := open(t, broker.Options{URL: s.url, Durability: "interval"})
	b.send()
	b.until("the log is flushed", func() bool { return flushes(b) > 0 })
	refuses(t, broker.Options{URL: running(t).url, Durability: "interval"}, "set log.flush.scheduler.interval.ms=1000")
}

func TestAQuotaOfTheBrokerIsTimeThatItThrottles(t *testing.T) {
	s := running(t)
	id := "mqbench-producer-0"
	quota := func(remove bool) {
		entry := kadm.AlterClientQuotaEntry{
			Entity: kadm.ClientQuotaEntity{{Type: "client-id", Name: &id}},
			Ops:    []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 1000, Remove: remove}},
		}
		if _, err := s.admin(t).AlterClientQuotas(context.Background(), []kadm.AlterClientQuotaEntry{entry}); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, broker.Options{URL: s.url})
	b.acks()
	if ns := b.ThrottledNs(); ns != 0 {
		t.Errorf("without a quota the broker throttled for %d ns", ns)
	}
	quota(false)
	defer quota(true)
	brokertest.Eventually(t, "the quota throttles for a second", func() bool {
		for range 20 {
			b.send()
		}
		time.Sleep(20 * time.Millisecond)
		return b.ThrottledNs() > int64(time.Second)
	})
}

// refuses sees that Open fails, with these words and without a password.
func refuses(t *testing.T, o broker.Options, words string) {
	t.Helper()
	o.Connections, o.Now = 1, time.Now().UnixNano
	session, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	began := time.Now()
	err = session.Open(t.Context())
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), "s3cr") {
		t.Errorf("Open = %v; want a sentence with %s, and no password", err, words)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Open took %s", took)
	}
}
