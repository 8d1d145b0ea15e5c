package generator

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// mirrored is a generator whose messages come back within their send call, through the given subscriber.
func mirrored(t testing.TB, p *Plan, subscriber int64) *Generator {
	t.Helper()
	g := generate(t, p, &stub{wrap: func(s *session) broker.Session { return &mirror{session: s} }})
	g.date(g.clock.Now(), time.Now())
	m := g.session.(*mirror)
	m.handle, g.facts = g.receive(0, int(subscriber)), m.Describe()
	g.books.WatchOrder(1)
	g.makeSenders()
	for _, s := range g.senders {
		s.out = m
	}
	return g
}

// BenchmarkMessage is the generator's cost of one message of 256 B, from the pool to the last record.
func BenchmarkMessage(b *testing.B) {
	for _, c := range []struct {
		name            string
		checksum, guard bool
	}{{"whole", false, false}, {"whole, with checksum", true, false}, {"whole, on a guarded connection", false, true}} {
		b.Run(c.name, func(b *testing.B) {
			p := testPlan(1_000_000, (int64(b.N)+999)/1000)
			p.Message.Bytes, p.Message.Checksum = 256, c.checksum
			g := mirrored(b, p, 0)
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
			if got := g.recorder.Totals().Received.All; got != int64(b.N) {
				b.Errorf("%d of %d messages were received", got, b.N)
			}
		})
	}
}
