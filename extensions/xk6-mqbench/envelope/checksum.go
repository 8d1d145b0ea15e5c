package envelope

import (
	"encoding/binary"
	"hash/crc32"
)

// ChecksumBytes is the room that a checksum takes at the end of a payload.
const ChecksumBytes = 4

// castagnoli is CRC32C, for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the CRC32C of what lies behind envelope and lag. It takes long for large payloads, so it comes before the stamps.
func Sum(payload []byte) uint32 {
	head, end := sealed(payload)
	return crc32.Checksum(payload[head:end], castagnoli)
}

// Seal continues that sum with envelope and lag, and writes it into the payload's last four bytes, big endian. Call it last.
func Seal(payload []byte, sum uint32) {
	head, end := sealed(payload)
	binary.BigEndian.PutUint32(payload[end:], crc32.Update(sum, castagnoli, payload[:head]))
}

// Intact reports whether a sealed payload is unchanged.
func Intact(payload []byte) bool {
	head, end := sealed(payload)
	return end >= Bytes && binary.BigEndian.Uint32(payload[end:]) == crc32.Update(Sum(payload), castagnoli, payload[:head])
}

// --- internal ---

// sealed is where envelope and lag end, and where the checksum begins.
func sealed(payload []byte) (head, end int) {
	end = len(payload) - ChecksumBytes
	return min(Bytes+LagBytes, end), end
}
