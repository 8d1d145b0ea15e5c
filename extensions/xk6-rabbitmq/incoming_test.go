package rabbitmq

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
)

func frame(kind byte, content ...byte) []byte {
	return append(append([]byte{kind, 0, 1, 0, 0, 0, byte(len(content))}, content...), 0xce)
}

func confirmation(method byte, tag uint64, bits byte) []byte {
	return frame(methodFrame, append(binary.BigEndian.AppendUint64([]byte{0, 60, 0, method}, tag), bits)...)
}

// inPieces returns the library's input from a stream that comes in pieces of a size.
func inPieces(t *testing.T, stream []byte, size int) (*incoming, []byte) {
	t.Helper()
	here, there := net.Pipe()
	in := newIncoming(here)
	go func() {
		defer there.Close()
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if _, err := there.Write(rest[:min(size, len(rest))]); err != nil {
				return
			}
		}
	}()
	all, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return in, all
}

func TestDeliveriesAreCountedHoweverTheirFramesAreCutUp(t *testing.T) {
	delivery := append(frame(methodFrame, 0, 60, 0, 60, 9, 9), append(frame(2, 0, 60, 0, 0), frame(3, 1, 0, 1, 0, 0, 0, 4, 0, 60, 0, 60)...)...)
	var stream []byte
	for range 10 {
		stream = append(append(append(stream, delivery...), frame(8)...), frame(methodFrame, 0, 60, 0, 80)...)
	}
	for size := 1; size <= len(stream); size++ {
		in, all := inPieces(t, stream, size)
		if n := in.read.Load(); n != 10 {
			t.Fatalf("in pieces of %d bytes: %d deliveries; want 10", size, n)
		}
		if string(all) != string(stream) {
			t.Fatalf("in pieces of %d bytes: something else is read than came", size)
		}
	}
}

func TestAConfirmationOfSeveralMessagesIsReadAsOneForEachThatHadNone(t *testing.T) {
	const ack, nack, several, requeue = 80, 120, 1, 2
	join := func(frames ...[]byte) (all []byte) {
		for _, one := range frames {
			all = append(all, one...)
		}
		return all
	}
	came := join(
		confirmation(ack, 1, 0), frame(8), confirmation(ack, 3, 0), confirmation(ack, 5, several),
		confirmation(nack, 8, 0), confirmation(nack, 7, several|requeue), frame(3, 1, 2), confirmation(ack, 9, several), confirmation(ack, 10, 0),
	)
	want := join(
		confirmation(ack, 1, 0), frame(8), confirmation(ack, 3, 0), confirmation(ack, 2, 0), confirmation(ack, 4, 0), confirmation(ack, 5, 0),
		confirmation(nack, 8, 0), confirmation(nack, 6, requeue), confirmation(nack, 7, requeue), frame(3, 1, 2), confirmation(ack, 9, 0), confirmation(ack, 10, 0),
	)
	for size := 1; size <= len(came); size++ {
		in, all := inPieces(t, came, size)
		if string(all) != string(want) {
			t.Fatalf("in pieces of %d bytes:\n%v\nwant\n%v", size, all, want)
		}
		if in.confirmed != 10 || len(in.alone) != 0 {
			t.Fatalf("in pieces of %d bytes: %d are confirmed, and %d remembered; want 10 and none", size, in.confirmed, len(in.alone))
		}
	}
}

func BenchmarkADeliveryThatIsRead(b *testing.B) {
	stream := append([]byte{methodFrame, 0, 1, 0, 0, 0, 40, 0, 60, 0, 60}, make([]byte, 37)...)
	stream = append(append(stream, 2, 0, 1, 0, 0, 0, 20), make([]byte, 21)...)
	stream = append(append(stream, 3, 0, 1, 0, 0, 4, 0), make([]byte, 1025)...)
	in, into := newIncoming(nil), make([]byte, 4096)
	for b.Loop() {
		in.frames.Reset(bytes.NewReader(stream))
		for _, err := in.Read(into); err == nil; {
			_, err = in.Read(into)
		}
	}
	if n := in.read.Load(); n != int64(b.N) {
		b.Errorf("%d of %d", n, b.N)
	}
}
