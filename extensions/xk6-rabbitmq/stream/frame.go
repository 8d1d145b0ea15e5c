package stream

import (
	"encoding/binary"
	"fmt"
)

// Commands of the protocol; an answer has the highest bit set.
const (
	declarePublisher, publish, publishConfirm, publishError                         = 1, 2, 3, 4
	subscribe, deliver, credit, storeOffset, queryOffset                            = 7, 8, 9, 10, 11
	create, remove, metadataUpdate                                                  = 13, 14, 16
	peerProperties, saslHandshake, saslAuthenticate, tune, open, goodbye, heartbeat = 17, 18, 19, 20, 21, 22, 23
	answer                                                                          = 1 << 15
)

// code of an answer.
type code uint16

const ok, missing, tooLarge, noOffset code = 1, 2, 14, 19

func (c code) Error() string {
	words := map[code]string{
		missing: "the stream does not exist", 5: "the stream exists already", 6: "the stream is not available", 8: "user or password is wrong",
		12: "no access to the virtual host", tooLarge: "the frame is too large", 16: "no access", 17: "precondition failed",
	}[c]
	return fmt.Sprintf("the broker refuses it with code %d (%s)", uint16(c), words)
}

var order = binary.BigEndian

// begin is a frame of version 1; write fills in its size.
func begin(command uint16) []byte {
	return order.AppendUint16(order.AppendUint16(make([]byte, 4, 64), command), 1)
}

func text(b []byte, s string) []byte { return append(order.AppendUint16(b, uint16(len(s))), s...) }

// reader reads a frame; behind its end everything is 0 or empty.
type reader []byte

func (r *reader) bytes(n int) []byte {
	n = max(0, min(n, len(*r)))
	b := (*r)[:n]
	*r = (*r)[n:]
	return b
}

func (r *reader) uint(bytes int) (n uint64) {
	for _, b := range r.bytes(bytes) {
		n = n<<8 | uint64(b)
	}
	return n
}

func (r *reader) text() string { return string(r.bytes(int(r.uint(2)))) }

// A message is an AMQP 1.0 data section, as all clients of streams write it: this, and the payload after its size in 4 bytes.
const (
	section      = "\x00\x53\x75\xb0"
	messageBytes = 4 + len(section) + 4
)

func appendMessage(b, payload []byte) []byte {
	b = append(order.AppendUint32(b, uint32(messageBytes-4+len(payload))), section...)
	return append(order.AppendUint32(b, uint32(len(payload))), payload...)
}

// payloadOf is nil for messages of other programs.
func payloadOf(message reader) []byte {
	if string(message.bytes(len(section))) != section {
		return nil
	}
	return message.bytes(int(message.uint(4)))
}
