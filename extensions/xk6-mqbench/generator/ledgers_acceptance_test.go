//go:build acceptance

package generator

import (
	"os"
	"testing"
)

// Where messages cross, lost, received and unknown come from the ledgers of all clients, and equal one client's counts.
func TestLedgersOfSeveralClientsSayWhatOneClientCounts(t *testing.T) {
	queue := workQueuePlan(3000, 200, 7)
	queue.Connections, queue.ConsumerConnections, queue.Producers, queue.Topics = 3, 5, 5, []string{"a", "b"}
	fan := fanOutPlan(3000, 200, 5)
	fan.ConsumerConnections, fan.Connections = 5, 2
	wild := *fan
	wild.Wildcard = true
	piled := *queue
	piled.Pattern, piled.Backlog = backlog, &Backlog{PauseNs: 50 * ms, ResumeNs: 150 * ms}
	for _, p := range []*Plan{queue, fan, &wild, &piled} {
		for _, acks := range []bool{true, false} {
			p.Acks = acks
			p.Schedule.WarmupNs = 55 * ms
			complete(p)
			var one [2]map[string]float64
			for _, n := range []int{1, 2, 5} {
				s := &stub{acks: acks, copies: copied, answer: unless(every(70, 5), 0), onSend: refused(every(40, 3))}
				s.facts.Wildcards, s.facts.Stores = true, true
				c, measured := runQuiet(t, of(n, p), s)
				sums := c.addUp(measured)
				if n == 1 {
					if one = sums; one[1]["lost"] == 0 || one[1]["failed"] == 0 || one[1]["duplicated"] == 0 || acks && one[1]["unknown"] == 0 {
						t.Fatalf("%s: nothing went wrong: %+v", p.Pattern, one[1])
					}
					if _, err := os.Stat(c.file(0) + ".ledger"); err == nil {
						t.Errorf("%s: a single client writes a ledger", p.Pattern)
					}
					continue
				}
				for k, sum := range sums {
					for _, name := range []string{"sent", "acked", "failed", "unknown", "notOffered", "received", "lost", "duplicated", "unackedReceived", "failedReceived"} {
						if sum[name] != one[k][name] {
							t.Errorf("%s, acks %v, %d clients, scope %d: %v %s; one client counts %v", p.Pattern, acks, n, k, sum[name], name, one[k][name])
						}
					}
				}
			}
		}
	}
}
