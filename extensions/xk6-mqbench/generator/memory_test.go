//go:build !race

package generator

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func TestOneOfTwoClientsKeepsNothingOfMessagesThatHaveArrived(t *testing.T) {
	p := testPlan(1_000_000, 3000)
	p.Connections, p.Producers, p.Topics = 2, 2, []string{"a", "b"}
	p.Client.Count = 2
	names++
	p.Broker = fmt.Sprintf("stub-%d", names)
	broker.Register(p.Broker, (&hub{}).driver)
	g, err := New(p, "")
	if err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before, n := heap(), 0
	for w := g.share.from(0); w.i() < p.Schedule.Messages; w.next() {
		i := g.share.before(w.i())
		g.flight.Reserve(i)
		g.flight.Depart(i, 5)
		if lag, _, _ := g.flight.Arrive(i, 0); lag != 5 {
			t.Fatalf("message %d has the lag %d; want 5", w.i(), lag)
		}
		n++
	}
	if kept := heap() - before; n != 1_500_000 || kept > 8<<20 {
		t.Errorf("%d of 3 million messages are this client's, and %d MB are kept of them; want half of them, and next to nothing", n, kept>>20)
	}
	runtime.KeepAlive(g)
}
