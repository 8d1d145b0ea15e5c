package envelope

import (
	"bytes"
	"compress/flate"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestAnEnvelopeComesBackAsItWasPut(t *testing.T) {
	want := Envelope{Run: 0xfffffff1, Producer: 7, Stream: 3, Sequence: 1 << 40, Intended: 3_600_000_000_001, Sent: 42, Lag: 1 << 41}
	payload := make([]byte, 64)
	Put(payload, want)
	if got, ok := Get(payload); !ok || got != want {
		t.Errorf("Get = %+v, %v; want %+v", got, ok, want)
	}
	if !bytes.Equal(payload[:4], []byte("MQB1")) || payload[16+2] != 1 {
		t.Errorf("the layout is not big endian as documented: % x", payload[:Bytes])
	}
	for _, other := range [][]byte{nil, []byte("MQB1"), make([]byte, 64)} {
		if _, ok := Get(other); ok {
			t.Errorf("%q is read as an envelope", other)
		}
	}
}

func TestTheSameSeedAndMessageGiveTheSameBytes(t *testing.T) {
	fill := func(seed uint64, i int64) []byte {
		payload := make([]byte, 300)
		newBody(t, Payload{Kind: "random", Bytes: 300, Seed: seed}).Fill(payload, i)
		return payload[Bytes:]
	}
	if !bytes.Equal(fill(1, 99), fill(1, 99)) {
		t.Error("two pools of one seed differ")
	}
	if bytes.Equal(fill(1, 99), fill(2, 99)) || bytes.Equal(fill(1, 99), fill(1, 100)) {
		t.Error("another seed or message has the same body")
	}
}

func TestAPayloadThatCannotBeMadeIsRefused(t *testing.T) {
	over, none := 1.1, math.NaN()
	for what, p := range map[string]Payload{
		"no room for the envelope": {Kind: "random", Bytes: Bytes - 1},
		"an unknown kind":          {Kind: "poetry", Bytes: 100},
		"more than all random":     {Kind: "random", Bytes: 100, RandomRatio: &over},
		"no number random":         {Kind: "random", Bytes: 100, RandomRatio: &none},
		"no file":                  {Kind: "file", Bytes: 100},
		"an empty file":            {Kind: "file", Bytes: 100, File: file(t, "")},
	} {
		if _, err := NewBodyOf(p); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

func TestABatchCompressesToItsRandomPart(t *testing.T) {
	for _, size := range []int{64, 256, 1024, 100_000} {
		if got := packed(newBody(t, Payload{Kind: "random", Bytes: size, Seed: 1}), size); got < 0.999 {
			t.Errorf("%d-byte messages compress to %.3f of their size", size, got)
		}
		// With small messages, the bytes in which a compressor marks zeros matter.
		for _, ratio := range []float64{0, 0.1, 0.25, 0.5, 0.9} {
			got := packed(newBody(t, Payload{Kind: "random", Bytes: size, Seed: 1, RandomRatio: &ratio}), size)
			if size > 64 && (got < ratio-0.002 || got > ratio+0.03) {
				t.Errorf("%d-byte messages, %v of them random, compress to %.3f of their size", size, ratio, got)
			}
		}
	}
}

func TestZerosAreZerosWhateverWasThereBefore(t *testing.T) {
	half := 0.5
	for _, p := range []Payload{{Kind: "zeros", Bytes: Bytes + 100}, {Kind: "random", Bytes: Bytes + 100, RandomRatio: &half}} {
		newBody(t, Payload{Kind: p.Kind, Bytes: Bytes}).Fill(make([]byte, Bytes), 5) // the smallest message
		payload := bytes.Repeat([]byte{7}, Bytes+100)
		newBody(t, p).Fill(payload, 3)
		if !bytes.Equal(payload[:Bytes], bytes.Repeat([]byte{7}, Bytes)) {
			t.Errorf("%s: the envelope is overwritten", p.Kind)
		}
		if !bytes.Equal(payload[Bytes+50:], make([]byte, 50)) {
			t.Errorf("%s: the rest is % x", p.Kind, payload[Bytes+50:])
		}
	}
}

func TestASmallerBodyHasTheSameRandomPartAndOtherBytesThanItsNeighbour(t *testing.T) {
	third := 1.0 / 3
	b := newBody(t, Payload{Kind: "random", Bytes: Bytes + 3000, Seed: 1, RandomRatio: &third})
	var bodies [4][]byte
	for i := range bodies {
		payload := bytes.Repeat([]byte{7}, Bytes+[]int{300, 3000}[i%2])
		b.Fill(payload, int64(i))
		body := payload[Bytes:]
		part := len(body) / 3
		if zeros := bytes.Count(body[:part], []byte{0}); zeros > part/20 || !bytes.Equal(body[part:], make([]byte, len(body)-part)) {
			t.Errorf("body %d of %d bytes: %d zeros in its random part, or others behind it", i, len(body), zeros)
		}
		bodies[i] = body[:100]
		for k := range i {
			if bytes.Equal(bodies[k], bodies[i]) {
				t.Errorf("bodies %d and %d begin with the same bytes", k, i)
			}
		}
	}
}

func TestPayloadsWalkThroughAFileAndBeginAgain(t *testing.T) {
	for _, test := range []struct {
		content string
		room    int
		want    []string
	}{
		{"abcdefgh", 3, []string{"abc", "def", "gha", "bcd"}},
		{"abcdefgh", 8, []string{"abcdefgh", "abcdefgh"}},
		{"abc", 8, []string{"abcabcab", "cabcabca", "bcabcabc", "abcabcab"}},
		{"x", 4, []string{"xxxx", "xxxx"}},
	} {
		b := newBody(t, Payload{Kind: "file", Bytes: Bytes + test.room, File: file(t, test.content)})
		for i, want := range test.want {
			payload := make([]byte, Bytes+test.room)
			b.Fill(payload, int64(i))
			if got := string(payload[Bytes:]); got != want {
				t.Errorf("message %d of %d bytes from %q is %q; want %q", i, test.room, test.content, got, want)
			}
		}
	}
}

// --- internal ---

func newBody(t *testing.T, p Payload) *Body {
	t.Helper()
	b, err := NewBodyOf(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "payload")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// packed is which part of its size a batch of 256 KiB of bodies compresses to.
func packed(b *Body, size int) float64 {
	var batch, packed bytes.Buffer
	payload := make([]byte, size)
	for i := int64(0); batch.Len() < 1<<18; i++ {
		b.Fill(payload, i)
		batch.Write(payload[Bytes:])
	}
	w, _ := flate.NewWriter(&packed, flate.BestCompression)
	_, _ = w.Write(batch.Bytes())
	_ = w.Close()
	return float64(packed.Len()) / float64(batch.Len())
}

func TestEveryByteOfASealedPayloadCounts(t *testing.T) {
	for _, size := range []int{Bytes + ChecksumBytes, Bytes + ChecksumBytes + 1, 300} {
		payload := make([]byte, size)
		newBody(t, Payload{Kind: "random", Bytes: size, Seed: 1}).Fill(payload, 1)
		sum := Sum(payload)
		Put(payload, Envelope{Run: 7, Sent: 9})
		Seal(payload, sum)
		if !Intact(payload) {
			t.Errorf("%d bytes are not intact", size)
		}
		for k := range payload {
			payload[k] ^= 4
			if Intact(payload) {
				t.Errorf("byte %d of %d does not count", k, size)
			}
			payload[k] ^= 4
		}
	}
	if Intact(make([]byte, 3)) {
		t.Error("3 bytes are intact")
	}
}
