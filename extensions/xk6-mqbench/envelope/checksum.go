package envelope

import (
	"encoding/binary"
	"hash/crc32"
)

// ChecksumBytes is the room that a checksum takes at the end of a payload.
const ChecksumBytes = 4

// castagnoli is CRC32C, for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the CRC32C of what lies behind the envelope. It takes long for large payloads, so it comes before the stamps.
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
