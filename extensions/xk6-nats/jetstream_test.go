package nats

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestADurabilityLevelIsTheStreamsStorage(t *testing.T) {
	s := start(t, stored(t))
	for _, c := range []struct {
		durability string
		want       jetstream.StorageType
	}{
		{"", jetstream.FileStorage},
		{"memory", jetstream.MemoryStorage},
		{"os", jetstream.FileStorage},
		{"fsync", jetstream.FileStorage},
	} {
		opened(t, s.ClientURL(), streams, func(o *broker.Options) { o.Durability = c.durability })
		if got := info(t, s.ClientURL()).Config.Storage; got != c.want {
			t.Errorf("durability %q: storage %s, want %s", c.durability, got, c.want)
		}
	}
}

// The server removes the folder of its last stream in the background: a store made at that moment is refused, by the server's own race.
func TestAStreamIsMadeAgainAndAgainWhereTheLastOneWas(t *testing.T) {
	session := opened(t, start(t, stored(t)).ClientURL(), streams, nil)
	for k := range 200 {
		if err := session.Prepare(t.Context(), layoutOf()); err != nil {
			t.Fatalf("time %d: %v", k, err)
		}
	}
}

func TestARequestIsRepeatedWhereThatHelps(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct {
		refusal jetstream.APIError
		tries   int
	}{
		{jetstream.APIError{Code: 500, ErrorCode: streamCreateFailed, Description: "error creating store for stream"}, 1 + storeTries},
		{jetstream.APIError{Code: 503, ErrorCode: temporarilyUnavailable, Description: "JetStream system temporarily unavailable"}, 20},
		{jetstream.APIError{Code: 400, ErrorCode: noPeers, Description: "no suitable peers for placement, peer offline"}, 20},
		{jetstream.APIError{Code: 400, ErrorCode: noPeers, Description: "no suitable peers for placement"}, 1},
	} {
		tries := 0
		err := s.patiently(t.Context(), func(context.Context) error {
			if tries++; tries < 20 {
				return &c.refusal
			}
			return nil
		})
		if tries != c.tries || (err == nil) != (c.tries == 20) {
			t.Errorf("%s: %v after %d tries, want %d", c.refusal.Description, err, tries, c.tries)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	busy := &jetstream.APIError{Code: 503, ErrorCode: temporarilyUnavailable, Description: "JetStream system temporarily unavailable"}
	err := s.patiently(ctx, func(context.Context) error { return busy })
	if !errors.Is(err, busy) || !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), "description=JetStream system temporarily unavailable") {
		t.Errorf("%v; want the last refusal", err)
	}
}

// newSession is one that has not been opened.
func newSession(t *testing.T) *jetStreamSession {
	t.Helper()
	return must(New(broker.Options{URL: "nats://h", Driver: []byte(streams), Connections: 1}))(t).(*jetStreamSession)
}

func TestOnlyWithIdsTheSameIndexIsStoredOnce(t *testing.T) {
	s := start(t, stored(t))
	for _, dedup := range []bool{true, false} {
		session := opened(t, s.ClientURL(), fmt.Sprintf(`{"mode": "jetstream", "dedup": %t}`, dedup), nil)
		send(t, session, 0, 10).ends(t, 10, 0)
		again, stored := send(t, session, 0, 10), uint64(20)
		if dedup {
			again.ends(t, 0, 10)
			stored = 10
			if !strings.Contains(again.failed[0].Error(), "duplicate") {
				t.Errorf("the second time fails with %v", again.failed[0])
			}
		} else {
			again.ends(t, 10, 0)
		}
		if n := info(t, s.ClientURL()).State.Msgs; n != stored {
			t.Errorf("dedup %t: %d messages are stored; want %d", dedup, n, stored)
		}
	}
}

func TestAPublishThatNoStreamTakesFailsAtOnce(t *testing.T) {
	s := start(t, stored(t))
	for _, publish := range []string{"async", "sync"} {
		session := opened(t, s.ClientURL(), fmt.Sprintf(`{"mode": "jetstream", "publish": %q}`, publish), nil)
		if err := broker.Remove(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		send(t, session, 0, 5).ends(t, 0, 5)
	}
}

func TestWhatIsOutstandingFailsOnceWhenTheConnectionIsLost(t *testing.T) {
	s, url := process(t, "")
	session := opened(t, url, streams, nil)
	s.Freeze() // the library has all of the messages and waits
	got := send(t, session, 0, 20)
	s.Kill()
	got.ends(t, 0, 20)
	for _, err := range got.failed {
		if !errors.Is(err, broker.ErrUnknown) {
			t.Errorf("%v; nobody knows of it", err)
		}
	}
	_ = session.Close()
	time.Sleep(50 * time.Millisecond)
	got.ends(t, 0, 20)
}

func TestAMessageThatFailsWithoutAConnectionIsNotKept(t *testing.T) {
	s := start(t, stored(t))
	session := opened(t, s.ClientURL(), streams, nil).(*jetStreamSession)
	s.Shutdown()
	brokertest.Eventually(t, "the connection notices that its server is gone", session.js[0].Conn().IsReconnecting)
	const messages, bytes = 400, 64 << 10
	failed := 0
	before := heap()
	for i := range int64(messages) {
		session.producers[0].Send(&broker.Message{Index: i, Name: "a.topic", Payload: make([]byte, bytes)}, func(_ *broker.Message, _ int64, err error) {
			if errors.Is(err, errNotConnected) {
				failed++
			}
		})
	}
	if failed != messages {
		t.Errorf("%d of %d fail at once", failed, messages)
	}
	if kept := heap() - before; kept > messages*bytes/4 {
		t.Errorf("%d bytes are kept of %d that failed", kept, messages*bytes)
	}
}

// heap is the reachable memory, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far below its largest
}

func TestALargeMessageMakesForASmallPrefetch(t *testing.T) {
	for bytes, want := range map[int]int{256: 500, 1 << 20: 32, 64 << 20: 1} {
		own, err := optionsOf(broker.Options{MessageBytes: bytes})
		if err != nil || own.Prefetch != want {
			t.Errorf("prefetch of messages of %d bytes = %d, %v; want %d", bytes, own.Prefetch, err, want)
		}
	}
}

func TestRemoveWithoutAServerEndsWithItsContext(t *testing.T) {
	s := start(t, stored(t))
	session := opened(t, s.ClientURL(), streams, nil)
	s.Shutdown()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := broker.Remove(ctx, session); err == nil {
		t.Error("Remove succeeds without a server")
	}
}
