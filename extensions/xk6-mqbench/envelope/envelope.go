// Package envelope is the 48 bytes that open every payload, the same for every driver.
package envelope

import "encoding/binary"

// Bytes is the size of the envelope, and so the smallest message.
const Bytes = 48

// magic is "MQB1".
const magic = 0x4d514231

// Envelope identifies a message and says when it was sent: all that its receiver needs. Times are nanoseconds since T0.
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
	binary.BigEndian.PutUint64(payload[24:], uint64(e.Intended))
	binary.BigEndian.PutUint64(payload[32:], uint64(e.Sent))
	binary.BigEndian.PutUint64(payload[40:], uint64(e.Lag))
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
