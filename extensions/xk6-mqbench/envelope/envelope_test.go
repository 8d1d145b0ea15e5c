package envelope

import (
	"bytes"
	"compress/flate"
	"testing"
)

func TestAnEnvelopeComesBackAsItWasPut(t *testing.T) {
	want := Envelope{Run: 0xfffffff1, Producer: 7, Stream: 3, Sequence: 1 << 40, Intended: 3_600_000_000_001, Sent: 42}
	payload := make([]byte, 64)
	Put(payload, want)
	if got, ok := Get(payload); !ok || got != want {
		t.Errorf("Get = %+v, %v; want %+v", got, ok, want)
	}
	if !bytes.Equal(payload[:4], []byte("MQB1")) || payload[16+2] != 1 {
		t.Errorf("the layout is not big endian as documented: % x", payload[:Bytes])
	}
}

func TestWhatIsNoEnvelopeIsNotRead(t *testing.T) {
	for name, payload := range map[string][]byte{
		"nothing":       nil,
		"too short":     []byte("MQB1"),
		"another magic": make([]byte, 64),
	} {
		if _, ok := Get(payload); ok {
			t.Errorf("%s is read as an envelope", name)
		}
	}
}

func TestABatchOfRandomBodiesDoesNotCompress(t *testing.T) {
	for _, size := range []int{64, 256, 1024, 100_000} {
		b, err := NewBody("random", size, 1)
		if err != nil {
			t.Fatal(err)
		}
		var batch bytes.Buffer
		payload := make([]byte, size)
		for i := int64(0); batch.Len() < 1<<20; i++ {
			b.Fill(payload, i)
			batch.Write(payload[Bytes:])
		}
		var packed bytes.Buffer
		w, _ := flate.NewWriter(&packed, flate.BestCompression)
		_, _ = w.Write(batch.Bytes())
		_ = w.Close()
		if ratio := float64(packed.Len()) / float64(batch.Len()); ratio < 0.999 {
			t.Errorf("%d-byte messages compress to %.3f of their size", size, ratio)
		}
	}
}

func TestTheSameSeedAndMessageGiveTheSameBytes(t *testing.T) {
	fill := func(seed uint64, i int64) []byte {
		b, err := NewBody("random", 300, seed)
		if err != nil {
			t.Fatal(err)
		}
		payload := make([]byte, 300)
		b.Fill(payload, i)
		return payload[Bytes:]
	}
	if !bytes.Equal(fill(1, 99), fill(1, 99)) {
		t.Error("two pools of one seed differ")
	}
	if bytes.Equal(fill(1, 99), fill(2, 99)) || bytes.Equal(fill(1, 99), fill(1, 100)) {
		t.Error("another seed or message has the same body")
	}
}

func TestTheSmallestMessageIsTheEnvelopeAlone(t *testing.T) {
	b, err := NewBody("random", Bytes, 1)
	if err != nil {
		t.Fatal(err)
	}
	b.Fill(make([]byte, Bytes), 5)
	if _, err := NewBody("random", Bytes-1, 1); err == nil {
		t.Error("a message without room for the envelope is accepted")
	}
	if _, err := NewBody("poetry", 100, 1); err == nil {
		t.Error("an unknown payload is accepted")
	}
}
