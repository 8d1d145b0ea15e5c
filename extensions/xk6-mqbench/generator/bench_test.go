package generator

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/schedule"
)

// mirror delivers each message inside of Send, and costs next to nothing itself.
type mirror struct {
	stub
	handle broker.Handler
	now    func() int64
}

func (m *mirror) driver(o broker.Options) (broker.Session, error) { m.now = o.Now; return m, nil }
func (m *mirror) Producer(int) (broker.Producer, error)           { return m, nil }
func (m *mirror) Close() error                                    { return nil }
func (m *mirror) Consume(_ context.Context, _ broker.Subscription, handle broker.Handler) error {
	m.handle = handle
	return nil
}
func (m *mirror) Send(message *broker.Message, done broker.Done) {
	m.handle(broker.Delivery{ReceivedNs: m.now(), Payload: message.Payload})
	done(message, 0, nil)
}

// BenchmarkMessage is what one message of 256 B costs the generator, from the pool to the last record.
func BenchmarkMessage(b *testing.B) {
	for _, c := range []struct {
		name            string
		checksum, guard bool
	}{{"whole", false, false}, {"whole, with checksum", true, false}, {"whole, on a guarded connection", false, true}} {
		b.Run(c.name, func(b *testing.B) {
			p := testPlan(1_000_000, (int64(b.N)+999)/1000)
			p.Message.Bytes, p.Message.Checksum = 256, c.checksum
			g := newGenerator(b, p)
			s := g.senders[0]
			s.connection.guarded = c.guard
			b.ReportAllocs()
			b.ResetTimer()
			for i := range int64(b.N) {
				m := g.message(0, i)
				s.connection.try()
				s.transmit(m, m.OffsetNs, 0)
				s.connection.unlock()
			}
			b.StopTimer()
			if got := g.recorder.Totals().Received; got != int64(b.N) {
				b.Errorf("%d of %d messages were received", got, b.N)
			}
		})
	}
}

func newGenerator(b *testing.B, p *Plan) *Generator {
	b.Helper()
	m := &mirror{}
	g := made(b, p, m.driver)
	if err := m.Consume(context.Background(), broker.Subscription{}, g.receive(0, 0)); err != nil {
		b.Fatal(err)
	}
	g.date(0, time.Now())
	g.facts = m.Describe()
	g.books.WatchOrder(1)
	g.senders = []*sender{newSender(g, 0, &connection{})}
	g.senders[0].out = m
	g.byProducer = g.senders
	return g
}

// BenchmarkStep is what it costs a client to get to its next message and its time, however many messages of others lie between.
func BenchmarkStep(b *testing.B) {
	for _, kind := range []string{"constant", "stages", "poisson"} {
		for _, n := range []int{1, 4, 20} {
			b.Run(fmt.Sprintf("%s, 1 of %d", kind, n), func(b *testing.B) {
				p := testPlan(1_000_000, 10_000)
				p.Connections, p.Producers = 20, 60
				shape(p, kind)
				p.Client.Count = n
				s, err := schedule.Of(p.Schedule.Shape)
				if err != nil {
					b.Fatal(err)
				}
				// What a schedule computes once is not the walk's.
				s.Before(p.windowEndNs())
				w := p.share().from(0)
				b.ReportAllocs()
				for b.Loop() {
					i := w.i()
					if i >= 10_000_000 {
						w = p.share().from(0)
						i = w.i()
					}
					s.Offset(i)
					w.next()
				}
			})
		}
	}
}
