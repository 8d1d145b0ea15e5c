package brokertest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokerless"
)

// ForwarderOr runs the tests, or the forwarder of a library where the program was started as one: for TestMain.
func ForwarderOr(m *testing.M, name string, library brokerless.Library) {
	if len(os.Args) > 1 && os.Args[1] == forwarderWord {
		if err := brokerless.Main(map[string]brokerless.Library{name: library}, os.Args[2:], os.Stderr); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Brokerless puts a driver of sockets that need no server through the contract, in each mode, and once more with a forwarder between. The
// test's own program is the forwarder (ForwarderOr). shared are the options with which it shares a burst evenly.
func Brokerless(t *testing.T, driver broker.Driver, library, shared string) {
	for options, want := range map[string]string{
		`{"mode":"pair"}`:     `mode must be one of push-pull, pub-sub, req-rep, got "pair"`,
		`{"transport":"udp"}`: `transport must be one of tcp, ipc, got "udp"`,
	} {
		if _, err := driver(broker.Options{Driver: json.RawMessage(options)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", options, err, want)
		}
	}
	for _, mode := range []string{"push-pull", "pub-sub"} {
		for _, between := range []string{"nothing", "a forwarder"} {
			t.Run(mode+" with "+between+" between", func(t *testing.T) {
				s := System{
					Driver: driver, DriverOptions: json.RawMessage(`{"mode":"` + mode + `"}`),
					NoFanOut: mode == "push-pull", NoGroups: mode == "pub-sub",
				}
				if between != "nothing" {
					var server *Server
					server, s.URL = startForwarder(t, library)
					s.Broken = func(*testing.T) { server.Kill() }
				}
				Run(t, func(*testing.T) System { return s })
			})
		}
	}
	t.Run("ipc", func(t *testing.T) {
		s := Opened(t, driver, "", `{"mode":"push-pull","transport":"ipc"}`, "", "local")
		TrafficOf(t, s, "local", "").arrives(t)
	})
	t.Run("requests come back to who asked, with nothing between", func(t *testing.T) { requests(t, driver, "") })
	t.Run("requests come back to who asked, through a forwarder", func(t *testing.T) {
		_, url := startForwarder(t, library)
		requests(t, driver, url)
	})
	t.Run("all of four members work", func(t *testing.T) {
		Shared(t, driver, "", shared, "work")
	})
	t.Run("all of four members work behind a forwarder", func(t *testing.T) {
		_, url := startForwarder(t, library)
		Shared(t, driver, url, shared, "work")
	})
	for _, mode := range []string{"push-pull", "pub-sub"} {
		t.Run("a forwarder that dies and comes back, "+mode, func(t *testing.T) {
			server, url := startForwarder(t, library)
			s := Opened(t, driver, url, `{"mode":"`+mode+`"}`, "", "again")
			TrafficOf(t, s, "again", "").Survives(t, s, server)
		})
	}
	t.Run("a receiver that dies and another in its place", func(t *testing.T) { loses(t, driver) })
	t.Run("a forwarder that stands still holds up a send, and Close ends that", func(t *testing.T) {
		server, url := startForwarder(t, library)
		stands(t, driver, url, server)
	})
}

// --- internal ---

const forwarderWord = "forwarder"

func startForwarder(t *testing.T, library string) (*Server, string) {
	t.Helper()
	addr := "127.0.0.1:" + strconv.Itoa(FreePort(t))
	server := StartServer(t, "listening on", os.Args[0], forwarderWord, "-library", library, "-addr", addr)
	return server, library + "://" + addr
}

// requests sends from two connections to three responders on one topic each, at once.
func requests(t *testing.T, driver broker.Driver, url string) {
	const n = 200
	topic := named("ask")[0]
	r := open(t, System{Driver: driver, URL: url, DriverOptions: json.RawMessage(`{"mode":"req-rep"}`)}, shape{
		connections: 2, consumers: append(members(topic, "responders", 1, 1, 1), alone(topic+".reply", 0)...),
	}, topic, topic+".reply")
	var replying sync.Mutex // of a connection, one goroutine at a time sends
	var failed error
	for _, to := range r.shape.consumers[:3] {
		err := r.session.Consume(t.Context(), to, func(d broker.Delivery) {
			replying.Lock()
			defer replying.Unlock()
			r.producers[1].Send(&broker.Message{Name: topic + ".reply", Payload: append([]byte(nil), d.Payload...)}, func(_ *broker.Message, _ int64, err error) {
				if err != nil {
					failed = err
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	got := map[uint32]int{}
	err := r.session.Consume(t.Context(), r.shape.consumers[3], func(d broker.Delivery) {
		mu.Lock()
		defer mu.Unlock()
		got[binary.BigEndian.Uint32(d.Payload)]++
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(n) {
		payload := make([]byte, messageBytes)
		binary.BigEndian.PutUint32(payload, i)
		r.producers[0].Send(&broker.Message{Name: topic, Payload: payload}, func(_ *broker.Message, _ int64, err error) {
			if err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		})
	}
	Eventually(t, fmt.Sprintf("%d replies arrive", n), func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(got) == n
	})
	settled()
	mu.Lock()
	defer mu.Unlock()
	for i, times := range got {
		if times != 1 {
			t.Errorf("request %d has %d replies", i, times)
		}
	}
	replying.Lock()
	defer replying.Unlock()
	if failed != nil {
		t.Error(failed)
	}
}

// loses: of two clients the one that receives goes away. Sends to it fail or are lost, and nothing hangs.
func loses(t *testing.T, driver broker.Driver) {
	s := System{Driver: driver, DriverOptions: json.RawMessage(`{"mode":"push-pull"}`)}
	topics := named("gone")
	sends, receives := open(t, s, shape{group: "workers"}, topics...), open(t, s, shape{group: "workers"}, topics...)
	to := receives.consumer(0, nil)
	meet([]*rig{sends, receives})
	sends.send(0, topics[0], 0)
	to.wait(1)
	receives.within("Close of who receives", receives.close)
	i := int64(0)
	sends.eventually(func() bool {
		i++
		sends.send(0, topics[0], i)
		for _, one := range sends.doneSoFar() {
			if one.err != nil {
				return true
			}
		}
		return false
	}, func() string { return "a send fails when nobody receives" })
	sends.within("Close", sends.close)
}

// stands: a forwarder takes nothing more.
func stands(t *testing.T, driver broker.Driver, url string, server *Server) {
	s := Opened(t, driver, url, `{"mode":"push-pull"}`, "", "still")
	a := TrafficOf(t, s, "still", "")
	a.Send(1)
	Eventually(t, "the first message arrives", func() bool { return a.Received(1) > 0 })
	server.Freeze()
	const most = 1_000_000
	over := make(chan struct{})
	var sent atomic.Int64
	go func() {
		defer close(over)
		for range most {
			a.Send(2)
			sent.Add(1)
			if a.Failed(2)+a.Unknown(2) > 0 {
				return
			}
		}
	}()
	last := int64(-1)
	Eventually(t, "a send is held up", func() bool {
		time.Sleep(200 * time.Millisecond)
		now := sent.Load()
		held := now == last
		last = now
		return held
	})
	_ = s.Close()
	select {
	case <-over:
	case <-time.After(patience):
		t.Fatal("Close does not end a send that is held up")
	}
	if a.Failed(2)+a.Unknown(2) == 0 {
		t.Error("a send that was held up counts as sent")
	}
}
