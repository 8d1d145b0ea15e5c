// Package envelope is the 48 bytes that open every payload, the same for every driver.
package envelope

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
)

// Bytes is the size of the envelope, and so the smallest message.
const Bytes = 48

const magic = 0x4d514231 // "MQB1"

// Envelope identifies a message and its send time: all that its receiver needs. Times are nanoseconds since T0.
type Envelope struct {
	Run      uint32
	Producer uint32
	Stream   uint32
	Sequence uint64
	Intended int64
	Sent     int64
	// Lag is the generator's part of Sent - Intended, in ns; the rest was queued.
	Lag int64
}

// Put writes e into the first Bytes bytes of payload, big endian.
func Put(payload []byte, e Envelope) {
	_ = payload[Bytes-1]
	binary.BigEndian.PutUint32(payload[0:], magic)
	binary.BigEndian.PutUint32(payload[4:], e.Run)
	binary.BigEndian.PutUint32(payload[8:], e.Producer)
	binary.BigEndian.PutUint32(payload[12:], e.Stream)
	binary.BigEndian.PutUint64(payload[16:], e.Sequence)
	Stamp(payload, e.Intended, e.Sent, e.Lag)
}

// Stamp completes an envelope that Put wrote, with its times.
func Stamp(payload []byte, intendedNs, sentNs, lagNs int64) {
	times := payload[24:Bytes]
	binary.BigEndian.PutUint64(times[0:], uint64(intendedNs))
	binary.BigEndian.PutUint64(times[8:], uint64(sentNs))
	binary.BigEndian.PutUint64(times[16:], uint64(lagNs))
}

// Get reads an envelope. ok is false if payload does not begin with one.
func Get(payload []byte) (e Envelope, ok bool) {
	if len(payload) < Bytes || binary.BigEndian.Uint32(payload) != magic {
		return Envelope{}, false
	}
	return Envelope{
		Run:      binary.BigEndian.Uint32(payload[4:]),
		Producer: binary.BigEndian.Uint32(payload[8:]),
		Stream:   binary.BigEndian.Uint32(payload[12:]),
		Sequence: binary.BigEndian.Uint64(payload[16:]),
		Intended: int64(binary.BigEndian.Uint64(payload[24:])),
		Sent:     int64(binary.BigEndian.Uint64(payload[32:])),
		Lag:      int64(binary.BigEndian.Uint64(payload[40:])),
	}, true
}

// ChecksumBytes is the room that a checksum takes at the end of a payload.
const ChecksumBytes = 4

// castagnoli is CRC32C, for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the CRC32C of the bytes after the envelope. It takes long for large payloads, so it comes before the stamps.
func Sum(payload []byte) uint32 {
	return crc32.Checksum(payload[Bytes:len(payload)-ChecksumBytes], castagnoli)
}

// Seal continues that sum with the envelope, and writes it into the payload's last four bytes, big endian. Call it last.
func Seal(payload []byte, sum uint32) {
	binary.BigEndian.PutUint32(payload[len(payload)-ChecksumBytes:], crc32.Update(sum, castagnoli, payload[:Bytes]))
}

// Intact reports whether a sealed payload is unchanged.
func Intact(payload []byte) bool {
	end := len(payload) - ChecksumBytes
	return end >= Bytes && binary.BigEndian.Uint32(payload[end:]) == crc32.Update(Sum(payload), castagnoli, payload[:Bytes])
}

// poolBytes is more than the window of any compressor that brokers use per batch: two messages of one batch must not share bytes.
const poolBytes = 8 << 20

// Payload is the part of plan.json's message that decides the bytes.
type Payload struct {
	// Kind is "random" (incompressible), "zeros" or "file".
	Kind string `json:"payload"`
	// Bytes of the largest message, envelope included.
	Bytes int    `json:"bytes"`
	Seed  uint64 `json:"seed"`
	// RandomRatio, for random: how much of the part after the envelope is random, 0 .. 1; the rest is zeros. nil means all of it. A compressor
	// shrinks the payload to about that part.
	RandomRatio *float64 `json:"randomRatio"`
	// File, for file: payloads walk through its bytes, and start again at its end.
	File string `json:"file"`
}

// Body fills payloads behind their envelopes, the same bytes for the same seed and message number. Safe for concurrent use.
type Body struct {
	// pool holds the bytes that messages are cut from; each message begins stride bytes after the one before, modulo cycle.
	pool   []byte
	stride int64
	cycle  int64
	// ratio of a body comes from the pool; the rest is zeros. In the largest body that is filled bytes.
	ratio        float64
	full, filled int
}

// NewBodyOf reads the file or generates the pool.
func NewBodyOf(p Payload) (*Body, error) {
	body := p.Bytes - Bytes
	if body < 0 {
		return nil, fmt.Errorf("envelope: a message of %d bytes has no room for the envelope of %d", p.Bytes, Bytes)
	}
	switch p.Kind {
	case "zeros":
		return &Body{cycle: 1, full: body}, nil
	case "random":
		ratio := 1.0
		if p.RandomRatio != nil {
			ratio = *p.RandomRatio
		}
		if !(ratio >= 0 && ratio <= 1) {
			return nil, fmt.Errorf("envelope: the random part must be between 0 and 1, got %v", ratio)
		}
		return newRandom(body, ratio, p.Seed), nil
	case "file":
		return newFile(p.File, body)
	}
	return nil, fmt.Errorf("envelope: payload must be random, zeros or file, got %q", p.Kind)
}

// Fill writes the body of message i after the envelope. Messages walk through the pool. Neighbours, which may share a batch, thus have no
// bytes in common. In a cycle of sizes, each moves on as far as the largest.
func (b *Body) Fill(payload []byte, i int64) {
	body, filled := payload[Bytes:], b.filled
	if len(body) != b.full {
		filled = part(b.ratio, len(body))
	}
	copy(body[:filled], b.pool[(i*b.stride)%b.cycle:])
	clear(body[filled:])
}

// --- internal ---

func part(ratio float64, body int) int { return int(math.Round(ratio * float64(body))) }

func newRandom(body int, ratio float64, seed uint64) *Body {
	filled := part(ratio, body)
	size := max(poolBytes, 2*filled)
	pool := make([]byte, size+8)
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	source := rand.NewChaCha8(key)
	for i := 0; i+8 <= len(pool); i += 8 {
		binary.LittleEndian.PutUint64(pool[i:], source.Uint64())
	}
	return &Body{pool: pool[:size], stride: int64(filled), cycle: int64(size-filled) + 1, ratio: ratio, full: body, filled: filled}
}

func newFile(path string, body int) (*Body, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("envelope: read payloads: %w", err)
	}
	size := len(content)
	if size == 0 {
		return nil, fmt.Errorf("envelope: read payloads: %s is empty", path)
	}
	// Repeat the content, because a message may wrap around its end.
	pool := make([]byte, size+body)
	for at := 0; at < len(pool); at += size {
		copy(pool[at:], content)
	}
	return &Body{pool: pool, stride: int64(body), cycle: int64(size), ratio: 1, full: body, filled: body}, nil
}
