package books

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// A plain map gets the same stream: completions, failures and timeouts in any order, many of them for the same message.
func TestAMessageSettlesOnceAndItsSlotComesBackOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := fanOut(1)
	b.Move(500, 1<<20)
	settled, freed := map[int64]bool{}, map[int64]bool{}
	timedOut := [2]int64{}
	for range 20_000 {
		i := random.Int64N(3000)
		p, seq := i%3, i/3
		if random.IntN(3) == 0 {
			back := b.TimeOut(p, seq)
			if back == freed[i] {
				t.Fatalf("message %d times out: its slot comes back: %v; it was back: %v", i, back, freed[i])
			}
			if freed[i] = true; back {
				timedOut[b.scope(i)]++
			}
			continue
		}
		first, back := b.Settle(p, seq)
		if first == settled[i] || back == freed[i] {
			t.Fatalf("message %d settles for the first time: %v, and frees its slot: %v; it had settled: %v, freed: %v", i, first, back, settled[i], freed[i])
		}
		settled[i], freed[i] = true, true
	}
	if b.timeouts[0].Load() != timedOut[0] || b.timeouts[1].Load() != timedOut[1] || timedOut[0] == 0 {
		t.Errorf("%d + %d timed out; want %v", b.timeouts[0].Load(), b.timeouts[1].Load(), timedOut)
	}
	for seq := range int64(1000) {
		if next := b.NextHeld(1, seq, seq+1); (next == seq) == freed[seq*3+1] {
			t.Errorf("sequence %d of producer 1 has its slot: %v; freed: %v", seq, next == seq, freed[seq*3+1])
		}
	}
}

func TestOfConcurrentCompletionsAndTimeoutsOneSettlesAndOneFrees(t *testing.T) {
	const n = 100_000
	b := fanOut(1)
	var settled, freed atomic.Int64
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for seq := range int64(n) {
				if g == 0 {
					if b.TimeOut(0, seq) {
						freed.Add(1)
					}
					continue
				}
				first, back := b.Settle(0, seq)
				if first {
					settled.Add(1)
				}
				if back {
					freed.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if settled.Load() != n || freed.Load() != n {
		t.Errorf("%d settled, %d slots came back; want %d of each", settled.Load(), freed.Load(), n)
	}
}
