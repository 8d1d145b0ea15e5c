package brokertest

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

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
	of := func(url, options string) System {
		return System{Driver: driver, URL: url, DriverOptions: json.RawMessage(options)}
	}
	for options, want := range map[string]string{
		`{"mode":"pair"}`:     `mode must be one of push-pull, pub-sub, req-rep, got "pair"`,
		`{"transport":"udp"}`: `transport must be one of tcp, ipc, got "udp"`,
	} {
		of("", options).RefusedWith(t, 64, want)
	}
	for _, between := range []string{"nothing", "a forwarder"} {
		at := func(t *testing.T, options string) System {
			if between == "nothing" {
				return of("", options)
			}
			server, url := startForwarder(t, library)
			s := of(url, options)
			s.Broken = func(*testing.T) { server.Kill() }
			return s
		}
		for _, mode := range []string{"push-pull", "pub-sub"} {
			t.Run(mode+" with "+between+" between", func(t *testing.T) {
				s := at(t, `{"mode":"`+mode+`"}`)
				s.NoFanOut, s.NoGroups = mode == "push-pull", mode == "pub-sub"
				Run(t, func(*testing.T) System { return s })
			})
		}
		t.Run("requests come back to who asked, with "+between+" between", func(t *testing.T) { echoes(t, at(t, `{"mode":"req-rep"}`), 3) })
		t.Run("all of four members work, with "+between+" between", func(t *testing.T) { at(t, shared).Shares(t) })
	}
	t.Run("ipc", func(t *testing.T) {
		of("", `{"mode":"push-pull","transport":"ipc"}`).Traffic(t, "").Arrives()
	})
	for _, mode := range []string{"push-pull", "pub-sub"} {
		t.Run("a forwarder that dies and comes back, "+mode, func(t *testing.T) {
			server, url := startForwarder(t, library)
			of(url, `{"mode":"`+mode+`"}`).Traffic(t, "").Survives(server)
		})
	}
	t.Run("a receiver that dies and another in its place", func(t *testing.T) { loses(t, of("", `{"mode":"push-pull"}`)) })
	t.Run("a forwarder that stands still holds up a send, and Close ends that", func(t *testing.T) {
		server, url := startForwarder(t, library)
		a := of(url, `{"mode":"push-pull"}`).Traffic(t, "")
		a.Arrives()
		stop := a.HeldUp(server)
		a.rig.close()
		stop()
		if a.Failed()+a.Unknown() == 0 {
			t.Error("a send that was held up counts as sent")
		}
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

// loses takes away the receiving one of two clients. Sends to it fail or are lost, and nothing hangs.
func loses(t *testing.T, s System) {
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
		return sends.ended(func(err error) bool { return err != nil }) > 0
	}, func() string { return "a send fails when nobody receives" })
	sends.within("Close", sends.close)
}
