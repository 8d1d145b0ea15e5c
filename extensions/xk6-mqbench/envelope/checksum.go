package envelope

import (
	"encoding/binary"
	"hash/crc32"
)

// ChecksumBytes is the room that a checksum takes at the end of a payload.
const ChecksumBytes = 4

// castagnoli is CRC32C, for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal writes the CRC32C of the payload into its last four bytes, big endian. Call it last.
func Seal(payload []byte) {
	end := len(payload) - ChecksumBytes
	binary.BigEndian.PutUint32(payload[end:], crc32.Checksum(payload[:end], castagnoli))
}

// Intact reports whether a sealed payload is unchanged.
func Intact(payload []byte) bool {
	end := len(payload) - ChecksumBytes
	return end >= Bytes && binary.BigEndian.Uint32(payload[end:]) == crc32.Checksum(payload[:end], castagnoli)
}
