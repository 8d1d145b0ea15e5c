package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// server is a redis-server (or its like) of a test's own.
type server struct {
	*brokertest.Server
	port int
}

// startServer starts `program` with settings as it takes them on its command line: "--appendonly", "yes".
func startServer(t testing.TB, program string, args ...string) *server {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("CI") == "true" && program == "redis-server" {
			t.Fatalf("%s is not on PATH", program)
		}
		t.Skipf("%s is not on PATH: install it to run this test", program)
	}
	port := brokertest.FreePort(t)
	argv := []string{path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--appendonly", "no"}
	return &server{brokertest.StartServer(t, "Ready to accept connections", append(argv, args...)...), port}
}

func (s *server) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }
func (s *server) url() string     { return "redis://" + s.address() }

func (s *server) client(t *testing.T) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.address()})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// opened is a session of one connection, until the test is over, and what Open or else Prepare with that topic said.
func opened(t testing.TB, o broker.Options, topic string, to ...broker.Subscription) (*session, error) {
	t.Helper()
	o.Connections, o.Now = 1, clock.New().Now
	o.MessageBytes = max(64, o.MessageBytes)
	made, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err = made.Open(ctx); err == nil {
		err = made.Prepare(ctx, broker.Layout{Topics: []broker.Topic{{Name: topic, Partitions: 1}}, Subscriptions: to})
	}
	return made.(*session), err
}

// rig is a session on one topic, what was received on it, and what became of the sends.
type rig struct {
	t         *testing.T
	session   *session
	producer  broker.Producer
	consumers []broker.Subscription

	mu       sync.Mutex
	errors   []string
	received map[int64]int
	outcomes map[int64]error
}

const patience = 20 * time.Second

// newRig opens a session on a topic, with a consumer of each group.
func newRig(t *testing.T, url, options, topic string, groups ...string) *rig {
	var consumers []broker.Subscription
	for _, group := range groups {
		consumers = append(consumers, broker.Subscription{Topic: topic, Group: group})
	}
	return newRigOf(t, broker.Options{URL: url, Driver: json.RawMessage(options)}, topic, consumers...)
}

func newRigOf(t *testing.T, o broker.Options, topic string, consumers ...broker.Subscription) *rig {
	t.Helper()
	r := &rig{t: t, consumers: consumers, received: map[int64]int{}, outcomes: map[int64]error{}}
	o.OnError = func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.errors = append(r.errors, err.Error())
	}
	var err error
	if r.session, err = opened(t, o, topic, r.consumers...); err == nil {
		r.producer, err = r.session.Producer(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// consume makes the consumers and counts what arrives; before may be nil.
func (r *rig) consume(before func()) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for _, to := range r.consumers {
		err := r.session.Consume(ctx, to, func(d broker.Delivery) {
			if before != nil {
				before()
			}
			var i int64
			_, _ = fmt.Sscan(string(d.Payload), &i)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.received[i]++
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// send sends message i, with `bytes` bytes or as few as it takes.
func (r *rig) send(i int64, bytes int) {
	payload := fmt.Appendf(nil, "%d ", i)
	payload = append(payload, make([]byte, max(0, bytes-len(payload)))...)
	r.producer.Send(&broker.Message{Index: i, Payload: payload}, func(m *broker.Message, _ int64, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.outcomes[m.Index] = err
	})
}

func (r *rig) sendAll(n int64) {
	for i := range n {
		r.send(i, 0)
	}
}

// done is how many sends were completed: well, and with an error.
func (r *rig) done() (well, failed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.outcomes {
		if err == nil {
			well++
		} else {
			failed++
		}
	}
	return well, failed
}

func (r *rig) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.received)
}

func (r *rig) reported(words string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.errors, func(err string) bool { return strings.Contains(err, words) })
}

func (r *rig) eventually(what string, holds func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.t.Fatalf("not within %s: %s (errors: %q)", patience, what, r.errors)
		}
	}
}

// answered waits until so many sends were completed well, and the others not.
func (r *rig) answered(n int) {
	r.t.Helper()
	r.eventually("all are answered", func() bool { well, _ := r.done(); return well == n })
}

func (r *rig) within(what string, do func()) {
	r.t.Helper()
	returned := make(chan struct{})
	go func() { defer close(returned); do() }()
	select {
	case <-returned:
	case <-time.After(patience):
		r.t.Fatalf("%s hangs", what)
	}
}
