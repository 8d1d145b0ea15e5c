package brokertest

import (
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/envelope"
)

// gateway forwards connections to a server, after an optional delay, and counts the open ones.
type gateway struct {
	listeners []net.Listener
	// waits is how long a connection waits before its first byte is forwarded.
	waits atomic.Int64
	mu    sync.Mutex
	open  map[net.Conn]bool
}

var hostPort = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+:\d+`)

// behind puts a gateway before the system's servers.
func behind(t *testing.T, s *System) *gateway {
	t.Helper()
	g := &gateway{open: map[net.Conn]bool{}}
	s.URL = hostPort.ReplaceAllStringFunc(s.URL, func(to string) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		g.listeners = append(g.listeners, listener)
		go func() {
			for {
				from, err := listener.Accept()
				if err != nil {
					return
				}
				go g.forward(from, to)
			}
		}()
		return listener.Addr().String()
	})
	return g
}

func (g *gateway) forward(from net.Conn, at string) {
	g.mu.Lock()
	g.open[from] = true
	g.mu.Unlock()
	time.Sleep(time.Duration(g.waits.Load()))
	to, err := net.Dial("tcp", at)
	if err == nil {
		go func() {
			_, _ = io.Copy(from, to)
			_ = from.Close()
		}()
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}
	_ = from.Close()
	g.mu.Lock()
	delete(g.open, from)
	g.mu.Unlock()
}

func (g *gateway) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open)
}

// opensConnections opens them during a run, as many at once as there are, and closes them.
func opensConnections(t *testing.T, s System) {
	if s.URL == "" {
		t.Skip("there is no broker to connect to")
	}
	const most = 40
	g := behind(t, &s)
	r := start(t, s, shape{}, named("connect")...)
	dialer, is := r.session.(broker.Dialer)
	if !is {
		t.Skip("its driver opens no connections during a run")
	}
	standing := 0
	r.eventually(func() bool { // after those that the driver opens for a moment
		before := g.count()
		settled()
		standing = g.count()
		return standing == before
	}, func() string { return "the session is open" })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	all := make([]broker.Connection, most)
	arrived := make([]atomic.Int64, most)
	var each sync.WaitGroup
	for n := range all {
		each.Go(func() {
			v, err := dialer.Dial(ctx, int64(n))
			if err != nil {
				t.Errorf("connection %d: %v", n, err)
				return
			}
			sentNs := now()
			m := &broker.Message{Name: r.topics[0], Index: int64(n), Payload: payload(r.bytes, envelope.Envelope{Run: 1, Sequence: uint64(n), Sent: sentNs})}
			want := string(m.Payload)
			err = v.Greet(ctx, m, func(d broker.Delivery) {
				if string(d.Payload) != want || d.ReceivedNs < sentNs || d.ReceivedNs > now() {
					t.Errorf("connection %d gets %d bytes at %d, which are not its own of %d", n, len(d.Payload), d.ReceivedNs, sentNs)
				}
				arrived[n].Add(1)
			})
			if err != nil {
				t.Errorf("first message of connection %d: %v", n, err)
			}
			all[n] = v
		})
	}
	each.Wait()
	if t.Failed() {
		return
	}
	r.eventually(func() bool {
		for n := range arrived {
			if arrived[n].Load() == 0 {
				return false
			}
		}
		return true
	}, func() string { return "each connection gets its message" })
	settled()
	for n, v := range all {
		if times := arrived[n].Load(); times != 1 || v.Gone() {
			t.Errorf("connection %d gets its message %d times; gone %v", n, times, v.Gone())
		}
	}
	if open := g.count() - standing; open != most {
		t.Errorf("%d connections are open; want %d", open, most)
	}
	for _, v := range all[1:] {
		r.within("Close of a connection", v.Close)
	}
	r.eventually(func() bool { return g.count() == standing+1 }, func() string { return "closed connections are closed" })
	if all[0].Gone() {
		t.Error("a connection is gone that was not closed")
	}

	// The time to connect is the server's.
	g.waits.Store(int64(100 * time.Millisecond))
	began := time.Now()
	late, err := dialer.Dial(ctx, most)
	if took := time.Since(began); err != nil || took < 100*time.Millisecond {
		t.Fatalf("a server that takes 100 ms is connected to within %s, with error %v", took, err)
	}
	r.within("Close before the first message", late.Close)
	g.waits.Store(int64(time.Second))
	short, stop := context.WithTimeout(ctx, 200*time.Millisecond)
	defer stop()
	r.within("a Dial that the server does not answer", func() { _, err = dialer.Dial(short, most+1) })
	if err == nil {
		t.Error("a server that does not answer is connected to")
	}

	g.mu.Lock()
	for one := range g.open {
		_ = one.Close()
	}
	g.mu.Unlock()
	r.eventually(all[0].Gone, func() string { return "a connection that the server has ended is gone" })
	r.within("Close of a connection that is gone", all[0].Close)
	for _, listener := range g.listeners {
		_ = listener.Close()
	}
	if _, err := dialer.Dial(ctx, most+2); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a server that is not there: %v; want that it refused", err)
	}
}
