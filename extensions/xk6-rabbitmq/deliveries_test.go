package rabbitmq

import "testing"

func TestDeliveriesAreCountedHoweverTheirFramesAreCutUp(t *testing.T) {
	frame := func(kind byte, content ...byte) []byte {
		return append(append([]byte{kind, 0, 1, 0, 0, 0, byte(len(content))}, content...), 0xce)
	}
	delivery := append(frame(methodFrame, 0, 60, 0, 60, 9, 9), append(frame(2, 0, 60, 0, 0), frame(3, 1, 0, 1, 0, 0, 0, 4, 0, 60, 0, 60)...)...)
	var stream []byte
	for range 10 {
		stream = append(append(append(stream, delivery...), frame(8)...), frame(methodFrame, 0, 60, 0, 80)...)
	}
	for size := 1; size <= len(stream); size++ {
		var d deliveries
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			d.scan(rest[:min(size, len(rest))])
		}
		if n := d.read.Load(); n != 10 {
			t.Fatalf("in pieces of %d bytes: %d deliveries; want 10", size, n)
		}
	}
}

func BenchmarkADeliveryThatIsRead(b *testing.B) {
	stream := append([]byte{methodFrame, 0, 1, 0, 0, 0, 40, 0, 60, 0, 60}, make([]byte, 37)...)
	stream = append(append(stream, 2, 0, 1, 0, 0, 0, 20), make([]byte, 21)...)
	stream = append(append(stream, 3, 0, 1, 0, 0, 4, 0), make([]byte, 1025)...)
	var d deliveries
	for b.Loop() {
		d.scan(stream)
	}
	if n := d.read.Load(); n != int64(b.N) {
		b.Errorf("%d of %d", n, b.N)
	}
}
