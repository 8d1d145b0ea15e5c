package books

import (
	"sync"
	"sync/atomic"
	"testing"
)

func fanOut(subscribers int64) *Books {
	return New(Shape{Messages: 1 << 20, Producers: 3, Subscribers: subscribers, Own: []int64{0, 1, 2}, Here: func(int64) bool { return true }})
}

func TestAMessageHasArrivedWithItsLastCopyAtTheTimeOfItsLatest(t *testing.T) {
	b := fanOut(3)
	for i := range int64(3000) {
		for n, atNs := range []int64{30, 10, 20} {
			if last, all := b.Arrived(i%3, i/3, atNs); last != 30 || all != (n == 2) {
				t.Fatalf("message %d, copy %d: latest at %d, all %v; want 30, %v", i, n, last, all, n == 2)
			}
		}
	}
	if last, all := fanOut(1).Arrived(1, 2, 20); last != 20 || !all {
		t.Errorf("the one copy of a message: latest at %d, all %v", last, all)
	}
}

func TestALateCopyOfAForgottenMessageIsNotItsLastAndKeepsNothing(t *testing.T) {
	b := fanOut(2)
	for i := range int64(3000) {
		b.Arrived(i%3, i/3, 10)
	}
	b.Forget(1, 900)
	for i := range int64(3000) {
		forgotten := i%3 == 1 && i/3 < 900
		if _, all := b.Arrived(i%3, i/3, 20); all == forgotten {
			t.Fatalf("message %d: all %v; forgotten %v", i, all, forgotten)
		}
	}
	for p := range b.copies {
		if n := len(b.copies[p].arrived); n != 0 {
			t.Errorf("%d messages of producer %d are kept", n, p)
		}
	}
}

func TestOfConcurrentCopiesExactlyOneIsTheLast(t *testing.T) {
	const n, copies = 300_000, 4
	b := fanOut(copies)
	var lasts atomic.Int64
	var wait sync.WaitGroup
	for range copies {
		wait.Go(func() {
			for i := range int64(n) {
				if _, all := b.Arrived(i%3, i/3, i); all {
					lasts.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if lasts.Load() != n {
		t.Errorf("%d messages had a last copy; want %d", lasts.Load(), n)
	}
}
