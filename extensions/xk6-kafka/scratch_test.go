package kafka

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
)

var _ = pacer.New

func TestScratch(t *testing.T) {
	if os.Getenv("SCRATCH") == "" {
		t.Skip()
	}
	s := running(t)
	for _, own := range []string{`{"acks":"1"}`, `{"acks":"all"}`} {
		for _, c := range []struct{ rate, n int }{{10, 50}, {3000, 30000}, {20000, 200000}} {
			measure(t, s, own, c.rate, c.n, 256)
		}
	}
}

func measure(t *testing.T, s *server, own string, rate, n, bytes int) {
	cl := clock.New()
	session, err := New(broker.Options{URL: s.url, Driver: []byte(own), Connections: 1, MessageBytes: bytes, Now: cl.Now, OnError: func(err error) { t.Log(err) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := session.Open(ctx); err != nil {
		t.Fatal(err)
	}
	topic := fmt.Sprintf("scratch.%d", time.Now().UnixNano())
	if err := session.Prepare(ctx, []broker.Topic{{Name: topic, Partitions: 1}}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := 0
	took := make([]int64, n)
	intended := make([]int64, n)
	all := make(chan struct{})
	err = session.Consume(ctx, broker.Subscription{Topic: topic, Members: 1}, func(d broker.Delivery) {
		mu.Lock()
		took[got] = d.ReceivedNs - intended[got]
		got++
		if got == n {
			close(all)
		}
		mu.Unlock()
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := session.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	acks := make([]int64, 0, n)
	var amu sync.Mutex
	start := cl.Now() + 1e6
	lag := make([]int64, n)
	for i := range n {
		intended[i] = start + int64(i)*int64(1e9)/int64(rate)
		for cl.Now() < intended[i] {
			if w := intended[i] - cl.Now(); w > 100_000 {
				time.Sleep(time.Duration(w - 80_000))
			} else {
				runtime.Gosched()
			}
		}
		lag[i] = cl.Now() - intended[i]
		at := intended[i]
		p.Send(&broker.Message{Name: topic, Payload: make([]byte, bytes)}, func(_ *broker.Message, ack int64, err error) {
			if err != nil {
				t.Error(err)
			}
			amu.Lock()
			acks = append(acks, ack-at)
			amu.Unlock()
		})
	}
	runtime.UnlockOSThread()
	select {
	case <-all:
	case <-time.After(20 * time.Second):
		t.Error("lost")
	}
	show := func(v []int64) string {
		slices.Sort(v)
		q := func(p float64) time.Duration {
			return time.Duration(v[int(p*float64(len(v)-1))]).Round(time.Microsecond)
		}
		return fmt.Sprintf("p50 %s p90 %s p99 %s p99.9 %s max %s", q(.5), q(.9), q(.99), q(.999), q(1))
	}
	amu.Lock()
	t.Logf("%s %d/s %d B: response %s | ack %s | lag %s", own, rate, bytes, show(took), show(acks), show(lag))
	amu.Unlock()
	_ = session.Remove(ctx)
	_ = session.Close()
}
