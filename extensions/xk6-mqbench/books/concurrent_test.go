package books

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestOfConcurrentCopiesExactlyOneIsTheLast(t *testing.T) {
	const n, copies = 20 * flightChunk, 4
	f := NewFlight(n, copies)
	var lasts atomic.Int64
	var wait sync.WaitGroup
	ready := make([]chan int64, copies)
	for k := range ready {
		ready[k] = make(chan int64, 1000)
		wait.Go(func() {
			for i := range ready[k] {
				if _, _, all := f.Arrive(i, i); all {
					lasts.Add(1)
				}
			}
		})
	}
	for i := range int64(n) {
		f.Reserve(i)
		f.Depart(i, 1)
		for _, r := range ready {
			r <- i
		}
	}
	for _, r := range ready {
		close(r)
	}
	wait.Wait()
	if lasts.Load() != n {
		t.Errorf("%d messages had a last copy; want %d", lasts.Load(), n)
	}
}
