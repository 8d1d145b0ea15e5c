package generator

import (
	"slices"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

// topologies that do not divide evenly, for several clients.
var topologies = []struct{ connections, producers, topics, consumerConnections, consumers, subscriptions int }{
	{1, 1, 1, 5, 7, 3},
	{5, 5, 5, 5, 5, 5},
	{5, 13, 5, 1, 1, 1},
	{7, 7, 14, 3, 11, 4},
	{12, 31, 12, 7, 2, 9},
}

func TestEveryMessageAndEveryConsumerIsOnOneOfAnyNumberOfClients(t *testing.T) {
	const messages = 1000
	for _, to := range topologies {
		p := &Plan{Connections: to.connections, Producers: to.producers, ConsumerConnections: to.consumerConnections}
		for n := 1; n <= 5; n++ {
			var times [messages]int
			on := map[[3]int]int{}
			connections, consuming := 0, 0
			p.Client.Count = n
			for p.Client.Index = range n {
				s := p.share()
				connections, consuming = connections+s.producing(), consuming+s.consuming()
				for k := range 20 {
					client, connection := s.consumer(k)
					if on[[3]int{k, client, connection}]++; client < 0 || client >= n ||
						s.index == client && (connection < s.producing() || connection >= s.producing()+s.consuming()) {
						t.Errorf("%+v, client %d of %d: consumer %d is on client %d, connection %d", to, s.index, n, k, client, connection)
					}
				}
				if len(s.own) == 0 {
					continue
				}
				sent, last := int64(0), int64(-1)
				for w := s.from(0); w.i() < messages; w.next() {
					i, again := w.i(), s.from(last+1)
					if c := s.connection(int(i) % to.producers); i <= last || s.before(i) != sent || again.i() != i || c >= s.producing() {
						t.Fatalf("%+v, client %d of %d: message %d after %d (from there %d), %d before it; want %d; connection %d of %d",
							to, s.index, n, i, last, again.i(), s.before(i), sent, c, s.producing())
					}
					times[i]++
					sent++
					last = i
				}
				if s.before(messages) != sent {
					t.Errorf("%+v, client %d of %d: %d messages in all; want %d", to, s.index, n, s.before(messages), sent)
				}
			}
			// All clients agree about each consumer.
			if slices.Min(times[:]) != 1 || slices.Max(times[:]) != 1 || len(on) != 20 || connections != to.connections || consuming != to.consumerConnections {
				t.Errorf("%+v, %d clients: messages are sent %d to %d times, 20 consumers are on %v, %d + %d connections",
					to, n, slices.Min(times[:]), slices.Max(times[:]), on, connections, consuming)
			}
		}
	}
}

// shape gives a plan another schedule: of "stages", a rate that rises to its own.
func shape(p *Plan, kind string) {
	p.Schedule.Kind = kind
	if kind == "stages" {
		mean := *p.Schedule.Rate
		p.Schedule.Pieces = []schedule.Piece{{DurationNs: p.windowEndNs(), From: schedule.Rate{Messages: mean.Messages / 2, PerNs: mean.PerNs}, To: mean}}
	}
	complete(p)
}
