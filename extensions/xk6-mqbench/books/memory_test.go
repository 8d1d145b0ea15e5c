//go:build !race

package books

import (
	"runtime"
	"testing"
)

// The detector would take most of the memory itself, and a minute.
func TestTheBooksOfTenMillionMessagesStayBelow64MB(t *testing.T) {
	const messages = 10_000_000
	shape := Shape{Messages: messages, Producers: 1, Subscribers: 1, Own: []int64{0}, Acks: true, Here: func(int64) bool { return true }}
	measureHeap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := measureHeap()
	b := New(shape)
	var most uint64
	const window = 100_000 // in flight
	for i := range int64(messages) {
		if i >= window && (i-window)%1000 != 7 { // one of a thousand is lost
			b.Received(0, 0, i-window, 0, 0)
			b.Acked(0, i-window)
		}
		if i%2_000_000 == 1_999_999 {
			most = max(most, measureHeap())
		}
	}
	mb := (float64(most) - float64(before)) / 1e6
	t.Logf("books of 10 million messages, one of a thousand lost, 100 000 in flight: %.1f MB", mb)
	if mb > 64 {
		t.Errorf("%.1f MB; want less than 64", mb)
	}
	runtime.KeepAlive(b)
}
