package brokertest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// For a driver's own tests: its server dies, freezes, flushes or refuses.

// Simple tests a broker.SimpleDriver. start starts a server of its own for each test.
func Simple(t *testing.T, start func(testing.TB) (*Server, System)) {
	t.Run("keeps the contract", func(t *testing.T) {
		server, system := start(t)
		system.Broken = func(*testing.T) { server.Kill() }
		Run(t, func(*testing.T) System { return system })
	})
	t.Run("keeps messages for a group that has not had a member yet", func(t *testing.T) {
		_, system := start(t)
		if system.NoGroups || !system.facts(t).Stores {
			t.Skip("the system stores nothing for groups")
		}
		r := open(t, system, shape{group: "workers"}, named("early")...)
		r.sendAll(0, 50)
		r.settles()
		r.gets("the group", 50, r.consumer(0, nil))
	})
	for _, group := range []string{"", "workers"} {
		t.Run(fmt.Sprintf("goes on when the server is killed and comes back, group %q", group), func(t *testing.T) {
			server, system := start(t)
			system.needsGroup(t, group)
			system.Traffic(t, group).Survives(server)
		})
	}
	t.Run("gives up a server that is frozen", func(t *testing.T) {
		server, system := start(t)
		system.needsGroup(t, "workers")
		system.Timeout = time.Second
		system.Traffic(t, "workers").NoticesSilence(server)
	})
	t.Run("all members of a group work", func(t *testing.T) {
		_, system := start(t)
		system.needsGroup(t, "workers")
		system.Shares(t)
	})
}

// Lasting is a test whose server goes on after it, for the tests that follow; TestMain kills it.
type Lasting struct{ testing.TB }

// Cleanup does nothing.
func (Lasting) Cleanup(func()) {}

// Eventually waits until something holds. Its patience is longer than any wait for a frozen server.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	eventually(t, 2*time.Minute, holds, func() string { return what })
}

// Traffic is the messages over one connection to one consumer of a topic.
type Traffic struct {
	Session broker.Session
	Topic   string
	rig     *rig
	to      *subscription
	sent    int64
}

// Traffic opens a session until the test is over, whose consumer is a member of the group if there is one, and sends nothing yet. Sends time out
// after half a minute, unless the system sets another time.
func (s System) Traffic(t testing.TB, group string) *Traffic {
	t.Helper()
	r := open(t, s, shape{group: group, timeout: longTimeout}, named("traffic")...)
	t.Cleanup(r.close) // without Remove: the server may be frozen by then
	return &Traffic{r.session, r.topics[0], r, r.consumer(0, nil), 0}
}

// Send sends another message. One goroutine at a time calls it.
func (a *Traffic) Send() {
	a.rig.send(0, a.rig.topics[0], a.sent)
	a.sent++
}

// Answered, Failed and Unknown are how many sends have ended so.
func (a *Traffic) Answered() int { return a.rig.ended(func(err error) bool { return err == nil }) }
func (a *Traffic) Failed() int {
	return a.rig.ended(func(err error) bool { return err != nil && !errors.Is(err, broker.ErrUnknown) })
}
func (a *Traffic) Unknown() int {
	return a.rig.ended(func(err error) bool { return errors.Is(err, broker.ErrUnknown) })
}

// Settles returns when all sends have ended.
func (a *Traffic) Settles() { a.rig.settles() }

// Told reports whether the driver has reported an error that contains these words and belongs to no message.
func (a *Traffic) Told(words string) bool {
	a.rig.mu.Lock()
	defer a.rig.mu.Unlock()
	return strings.Contains(strings.Join(a.rig.told, "\n"), words)
}

// Arrived is how often message n, counted from 0, has arrived.
func (a *Traffic) Arrived(n uint64) (times int) {
	for _, m := range a.to.receipts() {
		if m.Sequence == n {
			times++
		}
	}
	return times
}

// LostOrTwice are the messages that were acknowledged and do not arrive within some seconds, those that arrived twice, and those that arrived
// although they are said to have failed.
func (a *Traffic) LostOrTwice() (wrong []string) {
	for range 100 {
		times := map[uint64]int{}
		for _, m := range a.to.receipts() {
			times[m.Sequence]++
		}
		wrong = nil
		for i, d := range a.rig.doneSoFar() {
			if n := times[uint64(i)]; n > 1 || n == 0 && d.times > 0 && d.err == nil || n > 0 && d.err != nil && !errors.Is(d.err, broker.ErrUnknown) {
				wrong = append(wrong, fmt.Sprintf("message %d of %d arrived %d times, acknowledged: %t", i, a.sent, n, d.err == nil))
			}
		}
		if len(wrong) == 0 {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return wrong
}

// Arrives waits for the arrival of a message that is sent from now on.
func (a *Traffic) Arrives() {
	a.rig.t.Helper()
	before := a.sent
	Eventually(a.rig.t, "a message arrives", func() bool {
		a.Send()
		got := a.to.receipts()
		return len(got) > 0 && int64(got[len(got)-1].Sequence) >= before
	})
}

// Survives lets a server die and come back, and checks that the session sends and receives again, and has counted the reconnect.
func (a *Traffic) Survives(server *Server) {
	a.rig.t.Helper()
	a.Arrives()
	server.Kill()
	Eventually(a.rig.t, "a message is refused, or nobody knows of it, while the server is down", func() bool {
		a.Send()
		return a.Failed()+a.Unknown() > 0
	})
	server.Start()
	a.Arrives()
	if n := broker.Reconnects(a.Session); n == nil || *n == 0 {
		a.rig.t.Error("the lost connection is not counted")
	}
}

// NoticesSilence freezes a server with its connections open: the fate of messages that it had received is unknown.
func (a *Traffic) NoticesSilence(server *Server) {
	a.rig.t.Helper()
	a.Arrives()
	server.Freeze()
	for range 100 { // one may be answered before the server has stopped
		a.Send()
	}
	Eventually(a.rig.t, "a message that it does not answer is unknown", func() bool { return a.Unknown() > 0 })
	server.Kill()
	server.Start()
	a.Arrives()
}

// HeldUp freezes a server and sends until a send does not return. The function that it returns ends that when it can.
func (a *Traffic) HeldUp(server *Server) (stop func()) {
	a.rig.t.Helper()
	server.Freeze()
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			default:
				a.Send()
			}
		}
	}()
	taken := -1
	Eventually(a.rig.t, "the sender is held up", func() bool {
		before := taken
		time.Sleep(300 * time.Millisecond)
		taken = len(a.rig.doneSoFar())
		return taken == before
	})
	return func() {
		close(over)
		a.rig.within("a send that was held up", func() { <-ended })
	}
}

// Shares lets four members of a group work 3 ms for each of 400 messages: all do, and each message is handled once.
func (s System) Shares(t testing.TB) {
	t.Helper()
	const n = 400
	topic := named("work")[0]
	r := open(t, s, shape{timeout: longTimeout, consumers: members(topic, "workers", 0, 0, 0, 0)}, topic)
	all := r.consume(func(receipt) { time.Sleep(3 * time.Millisecond) })
	r.sendAll(0, n)
	r.eventually(func() bool { return len(together(all...)) >= n }, func() string { return "each message is handled" })
	// Members leave while the last message may be handled and not acknowledged: the others must not get it.
	r.remove()
	r.close()
	r.gets("the members", n, all...)
	r.allWork(all)
}

// Flushes starts the server again below strace, which counts its calls of fsync, fdatasync and msync. It wants least to most calls for n
// messages that are sent one after another, each when the one before is acknowledged. It skips the test if strace is missing, except in CI.
// flushes counts the calls since the first message.
func (s System) Flushes(t testing.TB, server *Server, n, least, most int) (flushes func() int) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("strace is not on PATH")
		}
		t.Skip("strace is not on PATH: install it to run this test")
	}
	server.Kill()
	trace := filepath.Join(t.TempDir(), "trace")
	server.Start(strace, "-f", "-e", "trace=fsync,fdatasync,msync", "-o", trace)
	all := func() int {
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "sync(")
	}
	r := open(t, s, shape{timeout: longTimeout}, named("disk")...)
	before := all()
	flushes = func() int { return all() - before }
	for i := range int64(n) {
		if err := r.answer(i); err != nil {
			t.Fatal(err)
		}
	}
	if got := flushes(); got < least || got > most {
		t.Errorf("%d flushes for %d acknowledged messages, want %d to %d", got, n, least, most)
	}
	return flushes
}

// RefusesAbove alternately sends a message of the largest size that a server takes and one that is a byte larger. The server takes the
// former and refuses the latter in the given words, although the run has them, and the fate of each is certain.
func (s System) RefusesAbove(t testing.TB, topic string, limitBytes int, words string) {
	t.Helper()
	r := open(t, s, shape{timeout: longTimeout, limitBytes: limitBytes}, topic)
	send := func(bytes int) error {
		r.bytes = bytes
		return r.answer(int64(len(r.doneSoFar())))
	}
	for range 3 {
		// A server may end the connection with its refusal, and then it takes a moment until there is another one.
		Eventually(t, "a message of the limit is taken", func() bool { return send(limitBytes) == nil })
		if err := send(limitBytes + 1); err == nil || errors.Is(err, broker.ErrUnknown) || !strings.Contains(err.Error(), words) {
			t.Fatalf("a message above the limit: %v; want it to be refused: %s", err, words)
		}
	}
}

// RefusedWith wants a session for messages of that size to be refused, at the latest by Open, in words that do not show the password s3cr3t.
func (s System) RefusedWith(t testing.TB, bytes int, words string) {
	t.Helper()
	session, err := s.Driver(s.options(shape{connections: 1, bytes: bytes}))
	if err == nil {
		err = errors.Join(session.Open(t.Context()), session.Close())
	}
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("%s at %s: %v; want a sentence with %q", s.DriverOptions, s.URL, err, words)
	}
}

// --- internal ---

const longTimeout = 30 * time.Second

// answer sends the message of that number, the next one, and returns its outcome.
func (r *rig) answer(i int64) error {
	r.t.Helper()
	r.send(0, r.topics[0], i)
	r.settles()
	return r.doneSoFar()[i].err
}

func (s System) needsGroup(t *testing.T, group string) {
	t.Helper()
	if group != "" && s.NoGroups {
		t.Skip("the system has no groups")
	}
}
