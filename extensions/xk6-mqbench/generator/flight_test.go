package generator

import "testing"

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
