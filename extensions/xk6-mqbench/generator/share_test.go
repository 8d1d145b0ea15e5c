package generator

import (
	"fmt"
	"slices"
	"testing"
)

// topologies that do not divide evenly, for up to so many clients.
var topologies = []struct{ connections, producers, topics, consumerConnections, consumers, subscriptions int }{
	{1, 1, 1, 5, 7, 3},
	{5, 5, 5, 5, 5, 5},
	{5, 13, 5, 1, 1, 1},
	{7, 7, 14, 3, 11, 4},
	{12, 31, 12, 7, 2, 9},
}

func TestEveryMessageIsSentByOneOfAnyNumberOfClients(t *testing.T) {
	for _, to := range topologies {
		p := &Plan{Connections: to.connections, Producers: to.producers, ConsumerConnections: to.consumerConnections}
		const messages = 1000
		for n := 1; n <= 5; n++ {
			var times [messages]int
			p.Client.Count = n
			connections, consuming := 0, 0
			for p.Client.Index = range n {
				s := p.share()
				connections += s.producing()
				consuming += s.consuming()
				if len(s.own) == 0 {
					continue
				}
				sent := int64(0)
				last := int64(-1)
				for w := s.from(0); w.i() < messages; w.next() {
					i := w.i()
					if i <= last {
						t.Fatalf("%+v, client %d of %d: message %d after %d", to, s.index, n, i, last)
					}
					if s.before(i) != sent {
						t.Fatalf("%+v, client %d of %d: %d messages before %d; want %d", to, s.index, n, s.before(i), i, sent)
					}
					if again := s.from(last + 1); again.i() != i {
						t.Fatalf("%+v, client %d of %d: from %d on the walk begins at %d; want %d", to, s.index, n, last+1, again.i(), i)
					}
					times[i]++
					sent++
					last = i
					if c := s.connection(int(i) % to.producers); c >= s.producing() {
						t.Fatalf("%+v, client %d of %d: connection %d of %d", to, s.index, n, c, s.producing())
					}
				}
				if s.before(messages) != sent {
					t.Errorf("%+v, client %d of %d: %d messages in all; want %d", to, s.index, n, s.before(messages), sent)
				}
			}
			if slices.Min(times[:]) != 1 || slices.Max(times[:]) != 1 {
				t.Errorf("%+v, %d clients: messages are sent %d to %d times", to, n, slices.Min(times[:]), slices.Max(times[:]))
			}
			if connections != to.connections || consuming != to.consumerConnections {
				t.Errorf("%+v, %d clients: %d + %d connections", to, n, connections, consuming)
			}
		}
	}
}

func TestEveryConsumerIsOnOneOfAnyNumberOfClients(t *testing.T) {
	for _, to := range topologies {
		p := &Plan{Connections: to.connections, Producers: to.producers, ConsumerConnections: to.consumerConnections}
		for n := 1; n <= 5; n++ {
			p.Client.Count = n
			for k := range 20 {
				client, connection := p.share().consumer(k)
				if client < 0 || client >= n {
					t.Fatalf("%+v, %d clients: consumer %d is on client %d", to, n, k, client)
				}
				for p.Client.Index = range n {
					s := p.share()
					if c, on := s.consumer(k); c != client || on != connection {
						t.Errorf("%+v: client %d of %d takes consumer %d to be on client %d, connection %d; another one on %d, %d", to, s.index, n, k, c, on, client, connection)
					}
					if s.index == client && (connection < s.producing() || connection >= s.producing()+s.consuming()) {
						t.Errorf("%+v, client %d of %d: consumer %d is on connection %d", to, s.index, n, k, connection)
					}
				}
				p.Client.Index = 0
			}
		}
	}
}

// A run of several clients is the run of one: the same producers, sequences and intended times, each once.
func TestTheUnionOfWhatClientsSendIsWhatOneSends(t *testing.T) {
	// Which messages are whose does not depend on their times: one kind of schedule for each topology.
	kinds := []string{"poisson", "constant", "stages", "constant", "poisson"}
	for k, to := range topologies {
		kind := kinds[k]
		p := fanOutPlan(2000, 300, to.subscriptions)
		p.Connections, p.Producers, p.ConsumerConnections = to.connections, to.producers, to.consumerConnections
		p.Schedule.WarmupNs = 33 * ms
		shape(p, kind)
		complete(p)
		var one map[string]int
		for _, n := range []int{1, min(5, max(to.connections, to.consumerConnections))} {
			h := &hub{}
			measured := runClients(t, of(n, p), h)
			sent := map[string]int{}
			for _, e := range h.sent {
				sent[fmt.Sprint(e.Producer, e.Sequence, e.Intended)]++
			}
			intended := int64(0)
			for _, m := range measured {
				intended += m.warmup.Intended + m.window.Intended
			}
			if intended != p.Schedule.Messages || int64(len(h.sent)) != p.Schedule.Messages {
				t.Errorf("%+v, %s, %d clients: %d messages intended, %d sent; want %d", to, kind, n, intended, len(h.sent), p.Schedule.Messages)
			}
			if one == nil {
				one = sent
			}
			same := len(sent) == len(one)
			for id, times := range one {
				same = same && sent[id] == times && times == 1
			}
			if !same {
				t.Errorf("%+v, %s: %d clients send %d different messages, one %d", to, kind, n, len(sent), len(one))
			}
		}
	}
}
