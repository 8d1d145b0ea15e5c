//go:build !race

package books

import (
	"testing"
)

func TestALateMessageStillFindsItsLag(t *testing.T) {
	const n = 40 * flightChunk
	f := NewFlight(n, 1)
	for i := range int64(n) {
		f.Reserve(i)
		f.Depart(i, i%1000)
		if i%777 != 5 {
			f.Arrive(i, 0)
		}
	}
	if f.chunks[0].Load() != nil {
		t.Error("a chunk from long ago is still there")
	}
	for i := int64(5); i < n; i += 777 {
		if got := f.Value(i); got != i%1000 {
			t.Fatalf("lag of message %d = %d; want %d", i, got, i%1000)
		}
		f.Arrive(i, 0)
	}
	if left := len(f.missing); left != 0 {
		t.Errorf("%d messages are still kept", left)
	}
}

func TestASenderFarBehindTheOthersKeepsItsLags(t *testing.T) {
	f := NewFlight(40*flightChunk, 1)
	for i := int64(0); i < 40*flightChunk; i += 2 {
		f.Reserve(i)
		f.Depart(i, 1)
		f.Arrive(i, 0)
	}
	for i := int64(1); i < 1000; i += 2 {
		f.Reserve(i)
		f.Depart(i, 42)
	}
	for i := int64(1); i < 1000; i += 2 {
		if got := f.Value(i); got != 42 {
			t.Fatalf("lag of message %d = %d; want 42", i, got)
		}
		f.Arrive(i, 0)
	}
}

func TestAMessageWithSeveralCopiesArrivesWithItsLast(t *testing.T) {
	const n, copies = 40 * flightChunk, 3
	f := NewFlight(n, copies)
	late := func(i int64) bool { return i%777 == 5 }
	for i := range int64(n) {
		f.Reserve(i)
		f.Depart(i, i%1000)
		f.Arrive(i, 30)
		f.Arrive(i, 10)
		if late(i) {
			continue
		}
		if value, last, all := f.Arrive(i, 20); value != i%1000 || last != 30 || !all {
			t.Fatalf("message %d: value %d, last copy at %d, all %v; want %d, 30, true", i, value, last, all, i%1000)
		}
	}
	if f.chunks[0].Load() != nil {
		t.Error("a chunk from long ago is still there")
	}
	for i := int64(5); i < n; i += 777 {
		if value, last, all := f.Arrive(i, 40); value != i%1000 || last != 40 || !all {
			t.Fatalf("late message %d: value %d, last copy at %d, all %v; want %d, 40, true", i, value, last, all, i%1000)
		}
	}
	if left := len(f.missing); left != 0 {
		t.Errorf("%d messages are still kept", left)
	}
}

func TestAForgottenMessageHasNoLastCopyAndFreesItsPlaceOnce(t *testing.T) {
	f := NewFlight(2*flightChunk, 2)
	for i := range int64(flightChunk) {
		f.Reserve(i)
		f.Depart(i, 7)
		f.Arrive(i, 10)
	}
	lost := func(i int64) bool { return i%3 == 0 }
	for i := range int64(flightChunk) {
		if lost(i) {
			f.Forget(i)
			f.Forget(i)
			if _, _, all := f.Arrive(i, 20); all {
				t.Fatalf("the late copy of message %d is its last", i)
			}
		}
	}
	for i := range int64(flightChunk) {
		if lost(i) {
			continue
		}
		if value, last, all := f.Arrive(i, 30); value != 7 || last != 30 || !all {
			t.Fatalf("message %d: value %d, last copy at %d, all %v; want 7, 30, true", i, value, last, all)
		}
	}
	if f.chunks[0].Load() != nil {
		t.Error("the chunk is kept although nobody waits for any of its messages")
	}
	f.Forget(0)
	if _, _, all := f.Arrive(0, 40); all {
		t.Error("a copy that comes when its chunk is gone is the last one")
	}
}
