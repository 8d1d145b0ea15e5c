package ledger

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestOfConcurrentAddsExactlyOneIsTheFirst(t *testing.T) {
	const size = chunkBits + 1000
	s := NewSet(size)
	var first atomic.Int64
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for seq := range int64(size) {
				if s.Add(seq) {
					first.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if first.Load() != size {
		t.Errorf("%d numbers were new; want %d", first.Load(), size)
	}
}
