package rabbitmq

import (
	"encoding/binary"
	"net"
	"sync/atomic"
	"time"
)

// incoming is a socket as the library reads it, with three additions:
//
// It keeps the time limit of a read by itself. The library extends it in the goroutine that sends heartbeats, which waits while a publish does that
// the broker has blocked; after three heartbeats the library takes such a broker for dead.
//
// It counts deliveries. The library keeps them in an unlimited queue, and does not report how many there are.
//
// It splits confirmations of several messages. For each of them the library looks at all unconfirmed messages, and lets nothing be published: with
// the 400 000 of a burst that was a whole core for 5000 messages a second, and after 30 s no heartbeat.
//
// Encrypted bytes pass unchanged.
type incoming struct {
	net.Conn
	encrypted bool
	// patience is how long a read may take; 0 means no limit.
	patience atomic.Int64
	// read is how many deliveries the library has read, taken how many it has handed over.
	read, taken atomic.Int64

	// Only the reader uses the fields below. out[from:] waits to be read.
	out  []byte
	from int
	// frame is the beginning of a frame of unknown kind, or of a confirmation; rest is how many bytes of another one are to come.
	frame []byte
	rest  int
	// All tags up to confirmed are confirmed, and the tags above it that had their own confirmation (alone).
	confirmed uint64
	alone     map[uint64]bool
}

// A frame is 1 byte of type, 2 of channel, 4 of size, the content of that size, and 1 more. A method's content begins with its class and
// number; a confirmation goes on with 8 bytes of tag, and 1 whose lowest bit is set if it is for all messages up to that tag.
const (
	methodFrame = 1
	headBytes   = 7
	tagAt       = headBytes + 4
	severalAt   = tagAt + 8
)

// Class 60 is basic: methods deliver, ack and nack.
const (
	deliver = 60<<16 | 60
	ack     = 60<<16 | 80
	nack    = 60<<16 | 120
)

// SetReadDeadline is how long the library waits for a sign of life: no read that begins later may take longer.
func (in *incoming) SetReadDeadline(t time.Time) error {
	in.patience.Store(int64(time.Until(t)))
	return in.Conn.SetReadDeadline(t)
}

func (in *incoming) Read(into []byte) (int, error) {
	if in.encrypted {
		return in.receive(into)
	}
	for in.from == len(in.out) {
		in.out, in.from = in.out[:0], 0
		n, err := in.receive(into)
		in.scan(into[:n])
		if err != nil && len(in.out) == 0 {
			return 0, err
		}
	}
	n := copy(into, in.out[in.from:])
	in.from += n
	return n, nil
}

func (in *incoming) held() int64 { return -in.taken.Load() + in.read.Load() }

// --- internal ---

func (in *incoming) receive(into []byte) (int, error) {
	if limit := time.Duration(in.patience.Load()); limit > 0 {
		if err := in.Conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
			return 0, err
		}
	}
	return in.Conn.Read(into)
}

// scan goes through the bytes read, which may end anywhere in a frame.
func (in *incoming) scan(b []byte) {
	for len(b) > 0 {
		if in.rest > 0 {
			n := min(in.rest, len(b))
			in.out = append(in.out, b[:n]...)
			in.rest -= n
			b = b[n:]
			continue
		}
		n := min(in.wanted()-len(in.frame), len(b))
		in.frame = append(in.frame, b[:n]...)
		b = b[n:]
		if len(in.frame) < in.wanted() {
			continue
		}
		if in.isConfirmation() {
			in.confirm()
		} else {
			if in.method() == deliver {
				in.read.Add(1)
			}
			in.out = append(in.out, in.frame...)
			in.rest = in.size() - len(in.frame)
		}
		in.frame = in.frame[:0]
	}
}

// wanted is how many bytes of a frame are needed to interpret more of it.
func (in *incoming) wanted() int {
	switch {
	case len(in.frame) < headBytes:
		return headBytes
	case in.frame[0] == methodFrame && len(in.frame) < tagAt:
		return tagAt
	case in.isConfirmation():
		return in.size()
	}
	return len(in.frame)
}

func (in *incoming) size() int { return headBytes + int(binary.BigEndian.Uint32(in.frame[3:])) + 1 }

// method is 0 if the frame is not a method, or too short.
func (in *incoming) method() uint32 {
	if len(in.frame) < tagAt || in.frame[0] != methodFrame {
		return 0
	}
	return binary.BigEndian.Uint32(in.frame[headBytes:])
}

func (in *incoming) isConfirmation() bool {
	method := in.method()
	return (method == ack || method == nack) && in.size() > severalAt
}

// confirm passes a confirmation on, or one for each of the messages that it covers.
func (in *incoming) confirm() {
	tag := binary.BigEndian.Uint64(in.frame[tagAt:])
	if in.frame[severalAt]&1 == 0 {
		in.out = append(in.out, in.frame...)
		in.alone[tag] = true
	} else {
		in.frame[severalAt] &^= 1
		for ; in.confirmed < tag; in.confirmed++ {
			next := in.confirmed + 1
			if in.alone[next] {
				delete(in.alone, next)
				continue
			}
			binary.BigEndian.PutUint64(in.frame[tagAt:], next)
			in.out = append(in.out, in.frame...)
		}
	}
	for ; in.alone[in.confirmed+1]; in.confirmed++ {
		delete(in.alone, in.confirmed+1)
	}
}
