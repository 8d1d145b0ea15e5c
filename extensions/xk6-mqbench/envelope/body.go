package envelope

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// poolBytes is more than the window of any compressor that brokers use per batch, so that two messages
// of one batch never share bytes.
const poolBytes = 8 << 20

// Body fills payloads behind their envelopes, the same bytes for the same seed and message number.
type Body struct {
	pool   []byte
	stride int64
}

// NewBody makes the pool for messages of the given size. kind is "random" (incompressible) or "zeros".
func NewBody(kind string, messageBytes int, seed uint64) (*Body, error) {
	if messageBytes < Bytes {
		return nil, fmt.Errorf("envelope: a message of %d bytes has no room for the envelope of %d", messageBytes, Bytes)
	}
	body := messageBytes - Bytes
	b := &Body{stride: int64(body)}
	switch kind {
	case "zeros":
		b.pool = make([]byte, body)
		b.stride = 0
	case "random":
		size := max(poolBytes, 2*body)
		b.pool = make([]byte, size+8)
		var key [32]byte
		binary.LittleEndian.PutUint64(key[:], seed)
		source := rand.NewChaCha8(key)
		for i := 0; i+8 <= len(b.pool); i += 8 {
			binary.LittleEndian.PutUint64(b.pool[i:], source.Uint64())
		}
		b.pool = b.pool[:size]
	default:
		return nil, fmt.Errorf("envelope: payload %q is unknown, have random and zeros", kind)
	}
	return b, nil
}

// Fill writes the body of message i behind the envelope. Messages walk through the pool, so that neighbours,
// which meet in a batch, have no bytes in common.
func (b *Body) Fill(payload []byte, i int64) {
	body := payload[Bytes:]
	room := int64(len(b.pool) - len(body))
	offset := int64(0)
	if room > 0 {
		offset = (i * b.stride) % (room + 1)
	}
	copy(body, b.pool[offset:])
}
