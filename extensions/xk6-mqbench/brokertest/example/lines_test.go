package example

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestADriverWithTheCoreAlonePasses(t *testing.T) {
	brokertest.Run(t, func(t *testing.T) brokertest.System {
		s := serve(t)
		return brokertest.System{
			Driver: New, URL: "lines://" + s.listener.Addr().String(), NoGroups: true, Broken: func(*testing.T) { s.end() },
		}
	})
}

func TestItHasNoAbility(t *testing.T) {
	made, err := New(broker.Options{URL: "lines://here"})
	if err != nil {
		t.Fatal(err)
	}
	if _, able := made.(broker.Existing); able || broker.UseExisting(made, "run") == nil {
		t.Error("it uses topics of the user's own")
	}
	if _, able := made.(broker.Shared); able || broker.Share(made, 0, 2) == nil {
		t.Error("it serves several clients")
	}
	if leader, err := broker.Leader(t.Context(), made, "topic"); leader != "" || err != nil {
		t.Errorf("its leader is %q, %v", leader, err)
	}
	if dropped, again := broker.Dropped(made), broker.Reconnects(made); dropped != nil || again != nil {
		t.Errorf("it counts %v drops and %v reconnects", dropped, again)
	}
	if err := broker.Remove(t.Context(), made); err != nil {
		t.Errorf("removing nothing: %v", err)
	}
}

// server is the made-up broker.
type server struct {
	listener net.Listener
	mu       sync.Mutex
	all      []net.Conn
	// ears of each topic.
	ears map[string][]*ear
}

// ear is a connection that listens, with what is still to be written to it.
type ear struct{ lines chan string }

func serve(t *testing.T) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{listener: listener, ears: map[string][]*ear{}}
	t.Cleanup(s.end)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.all = append(s.all, conn)
			s.mu.Unlock()
			go s.serve(conn)
		}
	}()
	return s
}

func (s *server) serve(conn net.Conn) {
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		command, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		topic, payload, _ := strings.Cut(rest, " ")
		s.mu.Lock()
		if command == "listen" {
			e := &ear{lines: make(chan string, 1<<16)}
			s.ears[topic] = append(s.ears[topic], e)
			go func() {
				for line := range e.lines {
					if _, err := fmt.Fprintln(conn, line); err != nil {
						return
					}
				}
			}()
			e.lines <- "ok"
		}
		for _, e := range s.ears[topic] {
			if command == "send" {
				e.lines <- payload
			}
		}
		s.mu.Unlock()
	}
}

func (s *server) end() {
	_ = s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.all {
		_ = conn.Close()
	}
}
