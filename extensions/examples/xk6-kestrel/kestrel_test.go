package kestrel

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestMain(m *testing.M) { brokertest.OwnServerOr(m, serve) }

func start(t testing.TB) (*brokertest.Server, brokertest.System) {
	server, at := brokertest.StartOwnServer(t)
	return server, brokertest.System{Driver: New, URL: "kestrel://" + at, NoFanOut: true, Exists: func(t *testing.T, topic string) bool {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "stats\r\nquit\r\n")
		stats, _ := io.ReadAll(conn)
		return strings.Contains(string(stats), "STAT queue_"+queue(topic)+"_items ")
	}}
}

func TestTheDriver(t *testing.T) { brokertest.Simple(t, start) }

func TestARefusedItemFails(t *testing.T) {
	_, system := start(t)
	system.RefusesAbove(t, "large", largest, "kestrel: set: NOT_STORED")
}

// --- a Kestrel of the test: as its guide and its MemcacheHandler.scala have the commands that the driver gives ---

const largest = 2 << 20

type kestrel struct {
	mu     sync.Mutex
	queues map[string]*items
}

type items struct {
	waiting [][]byte
	changed *sync.Cond
}

func serve(listener net.Listener) {
	k := &kestrel{queues: map[string]*items{}}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go k.session(conn)
	}
}

// named returns a queue, which is made when it is used.
func (k *kestrel) named(name string) *items {
	if k.queues[name] == nil {
		k.queues[name] = &items{changed: sync.NewCond(&k.mu)}
	}
	return k.queues[name]
}

func (k *kestrel) session(conn net.Conn) {
	open := map[string][]byte{}
	defer func() {
		_ = conn.Close()
		k.mu.Lock()
		defer k.mu.Unlock()
		for name, item := range open {
			q := k.named(name)
			q.waiting = append([][]byte{item}, q.waiting...)
			q.changed.Broadcast()
		}
	}()
	for r := bufio.NewReader(conn); ; {
		text, err := r.ReadString('\n')
		words := append(strings.Fields(text), "", "")
		if err != nil {
			return
		}
		answer := "END"
		switch words[0] {
		case "version":
			answer = "VERSION 2.4.1\r\n"
		case "set":
			var size int
			_, _ = fmt.Sscan(words[4], &size)
			data := make([]byte, size+2)
			if _, err := io.ReadFull(r, data); err != nil {
				return
			}
			answer = k.set(words[1], data[:size])
		case "get":
			var alive bool
			if answer, alive = k.get(words[1], open, gone(conn, r)); !alive {
				return
			}
		case "delete":
			k.mu.Lock()
			delete(k.queues, words[1])
			k.mu.Unlock()
		case "stats":
			k.mu.Lock()
			answer = ""
			for name, q := range k.queues {
				answer += fmt.Sprintf("STAT queue_%s_items %d\r\n", name, len(q.waiting))
			}
			k.mu.Unlock()
			answer += "END"
		default:
			return
		}
		if _, err := io.WriteString(conn, answer+"\r\n"); err != nil {
			return
		}
	}
}

// gone reports, without waiting, whether the client has ended the connection.
func gone(conn net.Conn, r *bufio.Reader) func() bool {
	return func() bool {
		_ = conn.SetReadDeadline(time.Now().Add(time.Microsecond))
		defer func() { _ = conn.SetReadDeadline(time.Time{}) }()
		_, err := r.Peek(1)
		timeout, is := err.(net.Error)
		return err != nil && !(is && timeout.Timeout())
	}
}

func (k *kestrel) set(name string, item []byte) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(item) > largest {
		return "NOT_STORED"
	}
	q := k.named(name)
	q.waiting = append(q.waiting, item)
	q.changed.Broadcast()
	return "STORED"
}

// get returns the answer, and false if the connection is to end.
func (k *kestrel) get(what string, open map[string][]byte, gone func() bool) (string, bool) {
	options := strings.Split(what, "/")
	name, until, has := options[0], time.Now(), map[string]bool{}
	for _, one := range options[1:] {
		has[one] = true
		var ms int
		if _, err := fmt.Sscanf(one, "t=%d", &ms); err == nil {
			until = until.Add(time.Duration(ms) * time.Millisecond)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if has["close"] {
		delete(open, name)
	}
	if open[name] != nil {
		return "ERROR", false
	}
	q := k.named(name)
	for len(q.waiting) == 0 && time.Now().Before(until) {
		wake := time.AfterFunc(20*time.Millisecond, q.changed.Broadcast)
		q.changed.Wait()
		wake.Stop()
		if gone() {
			return "", false
		}
	}
	if len(q.waiting) == 0 {
		return "END", true
	}
	item := q.waiting[0]
	if !has["peek"] {
		q.waiting = q.waiting[1:]
	}
	if has["open"] {
		open[name] = item
	}
	return fmt.Sprintf("VALUE %s 0 %d\r\n%s\r\nEND", name, len(item), item), true
}
