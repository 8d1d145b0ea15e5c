//go:build acceptance

package generator

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
)

// What crosses: lost, received and unknown come from the ledgers of all clients, and are those that one client counts itself.
func TestLedgersOfSeveralClientsSayWhatOneClientCounts(t *testing.T) {
	queue := workQueuePlan(3000, 200, 7)
	queue.Connections, queue.ConsumerConnections, queue.Producers, queue.Topics = 3, 5, 5, []string{"a", "b"}
	fan := fanOutPlan(3000, 200, 5)
	fan.ConsumerConnections, fan.Connections = 5, 2
	wild := *fan
	wild.Wildcard = true
	piled := *queue
	piled.Pattern, piled.Backlog = backlog, &Backlog{PauseNs: 50 * ms, ResumeNs: 150 * ms, Messages: 300}
	for _, p := range []*Plan{queue, fan, &wild, &piled} {
		for _, acks := range []bool{true, false} {
			p.Acks = acks
			p.Schedule.WarmupNs = 55 * ms
			complete(p)
			var one [2]books.Counters
			var of1 [2]counted
			for _, n := range []int{1, 2, 5} {
				h := &hub{
					acks: acks, groupOrder: true,
					copies: func(i int64) int { return int(1 + (i%50+48)/49 - (i%31+29)/30) },
					silent: func(i int64) bool { return i%70 == 5 },
					refuse: func(i int64) error {
						if i%40 == 3 {
							return errRefused
						}
						return nil
					},
				}
				c, measured := runQuiet(t, of(n, p), h)
				if n == 1 {
					one = [2]books.Counters{measured[0].warmup, measured[0].window}
					for k := range one {
						of1[k] = countedBy(one[k], p)
					}
					if of1[1].Lost == 0 || of1[1].Failed == 0 || one[1].Duplicated == 0 || acks && of1[1].Unknown == 0 {
						t.Fatalf("%s: nothing went wrong: %+v", p.Pattern, of1[1])
					}
					if _, err := os.Stat(filepath.Join(c.folder, "client-0.ledger")); err == nil {
						t.Errorf("%s: a single client writes a ledger", p.Pattern)
					}
					continue
				}
				all := readLedgers(t, c.folder, n)
				for k := range one {
					got := all.count(c.plan, k == 1)
					sum, want := map[string]float64{}, map[string]float64{}
					addCounters(want, one[k])
					duplicated := got.Across
					for _, m := range measured {
						s := []books.Counters{m.warmup, m.window}[k]
						if s.Received != nil || s.Delivered != nil || s.Lost != nil || s.UnackedReceived != nil || s.FailedReceived != nil || s.Behind != nil {
							t.Fatalf("%s: a client counts receipts: %s", p.Pattern, asJSON(s))
						}
						if (s.Reordered == nil) != p.grouped() {
							t.Errorf("%s: reordered is %v", p.Pattern, s.Reordered)
						}
						addCounters(sum, s)
						duplicated += s.Duplicated
					}
					got.Across = 0
					if got != of1[k] || duplicated != one[k].Duplicated {
						t.Errorf("%s, acks %v, %d clients, scope %d: %+v, %d duplicated; one client counts %+v, %d",
							p.Pattern, acks, n, k, got, duplicated, of1[k], one[k].Duplicated)
					}
					for _, name := range []string{"sent", "failed", "unknown", "notOffered"} {
						if sum[name] != want[name] {
							t.Errorf("%s, acks %v, %d clients, scope %d: %v %s; one client counts %v", p.Pattern, acks, n, k, sum[name], name, want[name])
						}
					}
				}
			}
		}
	}
}
