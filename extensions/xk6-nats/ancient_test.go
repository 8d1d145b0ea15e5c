package nats

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// ancient plays a server of 2012, written in Ruby: INFO has neither headers nor proto, and every command is answered by +OK, although
// CONNECT says verbose: false. It knows subjects and queue groups.
type ancient struct {
	net.Listener
	mu   sync.Mutex
	subs []listener
	turn int
}

type listener struct {
	conn                net.Conn
	subject, group, sid string
}

func startAncient(t *testing.T) *ancient {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &ancient{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *ancient) serve(conn net.Conn) {
	_, _ = fmt.Fprint(conn, `INFO {"server_id":"old","host":"0.0.0.0","port":4222,"version":"0.4.28","auth_required":false,"ssl_required":false,"max_payload":1048576}`+"\r\n")
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		words := strings.Fields(line)
		answer := "+OK\r\n"
		switch words[0] {
		case "PING":
			answer = "PONG\r\n"
		case "PONG":
			answer = ""
		case "SUB":
			one := listener{conn: conn, subject: words[1], sid: words[len(words)-1]}
			if len(words) == 4 {
				one.group = words[2]
			}
			s.mu.Lock()
			s.subs = append(s.subs, one)
			s.mu.Unlock()
		case "PUB":
			size := 0
			_, _ = fmt.Sscan(words[len(words)-1], &size)
			payload := make([]byte, size+2)
			if _, err := io.ReadFull(in, payload); err != nil {
				return
			}
			s.deliver(words[1], payload)
		}
		s.mu.Lock()
		_, _ = fmt.Fprint(conn, answer)
		s.mu.Unlock()
	}
}

func (s *ancient) deliver(subject string, payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	groups := map[string][]listener{}
	for _, one := range s.subs {
		if one.subject != subject {
			continue
		}
		name := one.group
		if name == "" {
			name = one.sid + one.conn.RemoteAddr().String()
		}
		groups[name] = append(groups[name], one)
	}
	s.turn++
	for _, members := range groups {
		one := members[s.turn%len(members)]
		_, _ = fmt.Fprintf(one.conn, "MSG %s %s %d\r\n%s", subject, one.sid, len(payload)-2, payload)
	}
}

func TestAServerOfRubyThatAnswersEverythingJustWorks(t *testing.T) {
	server := startAncient(t)
	var mu sync.Mutex
	var wrong []string
	s, err := New(broker.Options{
		URL: "nats://" + server.Addr().String(), Connections: 2, MessageBytes: 64, Now: clock.New().Now,
		OnError: func(err error) { mu.Lock(); defer mu.Unlock(); wrong = append(wrong, err.Error()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	received := map[string]int{}
	for _, to := range []broker.Subscription{
		{Connection: 0, Topic: "a", Members: 1}, {Connection: 1, Topic: "a", Members: 1},
		{Connection: 0, Topic: "work", Group: "workers", Members: 2}, {Connection: 1, Topic: "work", Group: "workers", Members: 2},
	} {
		err := s.Consume(ctx, to, func(broker.Delivery) { mu.Lock(); defer mu.Unlock(); received[to.Topic]++ })
		if err != nil {
			t.Fatal(err)
		}
	}
	producer, err := s.Producer(0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	for range n {
		for _, topic := range []string{"a", "work"} {
			producer.Send(&broker.Message{Name: topic, Payload: make([]byte, 64)}, func(_ *broker.Message, _ int64, err error) {
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		a, work := received["a"], received["work"]
		mu.Unlock()
		if a == 2*n && work == n {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages arrive at two subscribers, %d of %d in a group (%q)", a, 2*n, work, n, wrong)
		}
	}
	if len(wrong) > 0 {
		t.Errorf("errors are reported: %q", wrong)
	}
	d := s.Describe()
	if d.Server != "nats-server 0.4.28" || !strings.HasPrefix(d.Settings["verbose"], "true") {
		t.Errorf("server %q, verbose %q", d.Server, d.Settings["verbose"])
	}
}
