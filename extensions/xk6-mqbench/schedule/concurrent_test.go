package schedule

import (
	"sync"
	"testing"
)

func poisson(t testing.TB, messages, perNs int64, seed uint64) *Poisson {
	p, err := NewPoisson(Rate{messages, perNs}, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOffsetsAreTheSameInAnyOrderAndFromManyGoroutines(t *testing.T) {
	const n = 600_000 // more than the recent chunks hold
	inOrder := poisson(t, 50_000, 1e9, 4)
	want := make([]int64, n)
	for i := range want {
		want[i] = inOrder.Offset(int64(i))
	}
	shared := poisson(t, 50_000, 1e9, 4)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			// Steps that share no factor with n reach all, far apart; one goroutine walks in order.
			step := []int{1, 7_919, 104_729, 399_989}[g]
			for k, i := 0, g; k < 40_000; k, i = k+1, (i+step)%n {
				if got := shared.Offset(int64(i)); got != want[i] {
					t.Errorf("Offset(%d) = %d; in order it is %d", i, got, want[i])
					return
				}
			}
		})
	}
	all.Wait()
	if bytes := len(*shared.starts.Load()) * 8; bytes > n/chunkMessages*8+16 {
		t.Errorf("%d bytes are kept for %d messages", bytes, n)
	}
}
