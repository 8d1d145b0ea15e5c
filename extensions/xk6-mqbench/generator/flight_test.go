package generator

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestALateMessageStillFindsItsLag(t *testing.T) {
	const n = 40 * flightChunk
	f := newFlight(n, 1)
	for i := range int64(n) {
		f.depart(i, i%1000)
		if i%777 != 5 {
			f.arrive(i, 0)
		}
	}
	if f.chunks[0].Load() != nil {
		t.Error("a chunk from long ago is still there")
	}
	for i := int64(5); i < n; i += 777 {
		if got := f.value(i); got != i%1000 {
			t.Fatalf("lag of message %d = %d; want %d", i, got, i%1000)
		}
		f.arrive(i, 0)
	}
	if left := len(f.missing); left != 0 {
		t.Errorf("%d messages are still kept", left)
	}
}

func TestASenderFarBehindTheOthersKeepsItsLags(t *testing.T) {
	f := newFlight(40*flightChunk, 1)
	for i := int64(0); i < 40*flightChunk; i += 2 {
		f.depart(i, 1)
		f.arrive(i, 0)
	}
	for i := int64(1); i < 1000; i += 2 {
		f.depart(i, 42)
	}
	for i := int64(1); i < 1000; i += 2 {
		if got := f.value(i); got != 42 {
			t.Fatalf("lag of message %d = %d; want 42", i, got)
		}
		f.arrive(i, 0)
	}
}

func TestAMessageWithSeveralCopiesArrivesWithItsLast(t *testing.T) {
	const n, copies = 40 * flightChunk, 3
	f := newFlight(n, copies)
	late := func(i int64) bool { return i%777 == 5 }
	for i := range int64(n) {
		f.depart(i, i%1000)
		f.arrive(i, 30)
		f.arrive(i, 10)
		if late(i) {
			continue
		}
		if value, last, all := f.arrive(i, 20); value != i%1000 || last != 30 || !all {
			t.Fatalf("message %d: value %d, last copy at %d, all %v; want %d, 30, true", i, value, last, all, i%1000)
		}
	}
	if f.chunks[0].Load() != nil {
		t.Error("a chunk from long ago is still there")
	}
	for i := int64(5); i < n; i += 777 {
		if value, last, all := f.arrive(i, 40); value != i%1000 || last != 40 || !all {
			t.Fatalf("late message %d: value %d, last copy at %d, all %v; want %d, 40, true", i, value, last, all, i%1000)
		}
	}
	if left := len(f.missing); left != 0 {
		t.Errorf("%d messages are still kept", left)
	}
}

func TestOfConcurrentCopiesExactlyOneIsTheLast(t *testing.T) {
	const n, copies = 20 * flightChunk, 4
	f := newFlight(n, copies)
	var lasts atomic.Int64
	var wait sync.WaitGroup
	ready := make([]chan int64, copies)
	for k := range ready {
		ready[k] = make(chan int64, 1000)
		wait.Go(func() {
			for i := range ready[k] {
				if _, _, all := f.arrive(i, i); all {
					lasts.Add(1)
				}
			}
		})
	}
	for i := range int64(n) {
		f.depart(i, 1)
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
