// Command server is a broker in memory, so that the driver has something to measure. It speaks lines over TCP:
//
//	PUB <topic> <bytes>, and the payload: OK
//	SUB <topic> <group> <prefetch>: OK, then MSG <bytes> <was delivered before> and the payload, for each message of the group
//	ACK: the oldest message on this connection is handled; no answer
//	DEL <topic>: OK
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"strconv"
	"strings"
	"sync"
)

type server struct {
	mu sync.Mutex
	// topics have a queue for each group.
	topics map[string]map[string]*queue
}

type queue struct {
	messages []message
	changed  *sync.Cond
}

type message struct {
	payload []byte
	before  bool
}

func main() {
	address := flag.String("listen", "127.0.0.1:7077", "address")
	flag.Parse()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("mybroker 1.0 is listening on %s", *address)
	s := &server{topics: map[string]map[string]*queue{}}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go s.serve(conn)
	}
}

func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	r, w := bufio.NewReader(conn), bufio.NewWriter(conn)
	for {
		if r.Buffered() == 0 { // requests that came together are answered together
			_ = w.Flush()
		}
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		words, answer := append(strings.Fields(line), "", "", "", ""), "OK"
		switch topic := words[1]; words[0] {
		case "PUB":
			size, _ := strconv.ParseUint(words[2], 10, 32)
			payload := make([]byte, size)
			if _, err := io.ReadFull(r, payload); err != nil {
				return
			}
			s.mu.Lock()
			for _, q := range s.topics[topic] {
				q.messages = append(q.messages, message{payload, false})
				q.changed.Broadcast()
			}
			s.mu.Unlock()
		case "SUB":
			prefetch, _ := strconv.Atoi(words[3])
			s.consume(conn, r, topic, words[2], max(1, prefetch))
			return
		case "DEL":
			s.mu.Lock()
			delete(s.topics, topic)
			s.mu.Unlock()
		default:
			answer = "ERR unknown command"
		}
		_, _ = w.WriteString(answer + "\n")
	}
}

// consume writes a group's messages to a member until its connection ends. Others get those that it has not acknowledged.
func (s *server) consume(conn net.Conn, acks *bufio.Reader, topic, group string, prefetch int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topics[topic] == nil {
		s.topics[topic] = map[string]*queue{}
	}
	if s.topics[topic][group] == nil {
		s.topics[topic][group] = &queue{changed: sync.NewCond(&s.mu)}
	}
	q, taken, over := s.topics[topic][group], []message(nil), false
	go func() {
		for !over {
			_, err := acks.ReadString('\n')
			s.mu.Lock()
			if over = err != nil; len(taken) > 0 && !over {
				taken = taken[1:]
			}
			q.changed.Broadcast()
			s.mu.Unlock()
		}
	}()
	text, payload := "OK\n", []byte(nil)
	for {
		s.mu.Unlock()
		_, err := (&net.Buffers{[]byte(text), payload}).WriteTo(conn)
		s.mu.Lock()
		for !over && err == nil && (len(q.messages) == 0 || len(taken) >= prefetch) {
			q.changed.Wait()
		}
		if over || err != nil {
			break
		}
		next := q.messages[0]
		q.messages, taken = q.messages[1:], append(taken, message{next.payload, true})
		text, payload = fmt.Sprintf("MSG %d %t\n", len(next.payload), next.before), next.payload
	}
	q.messages = append(taken, q.messages...)
	q.changed.Broadcast()
}
