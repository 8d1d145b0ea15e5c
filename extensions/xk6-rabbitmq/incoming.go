package rabbitmq

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"net"
	"sync/atomic"
	"time"
)

// patient is a socket that keeps the time limit of a read by itself. The library extends it in the goroutine that sends heartbeats, which waits while a
// publish does that the broker has blocked; after three heartbeats the library takes such a broker for dead.
type patient struct {
	net.Conn
	// limit is how long a read may take; 0 means no limit.
	limit atomic.Int64
}

// SetReadDeadline is how long the library waits for a sign of life: no read that begins later may take longer.
func (p *patient) SetReadDeadline(t time.Time) error {
	p.limit.Store(int64(time.Until(t)))
	return p.Conn.SetReadDeadline(t)
}

func (p *patient) Read(into []byte) (int, error) {
	if limit := time.Duration(p.limit.Load()); limit > 0 {
		if err := p.Conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
			return 0, err
		}
	}
	return p.Conn.Read(into)
}

// incoming is a patient socket as the library reads it, with two additions:
//
// It counts deliveries. The library keeps them in an unlimited queue, and does not report how many there are.
//
// It splits confirmations of several messages. For each of them the library looks at all unconfirmed messages, and lets nothing be published: with
// the 400 000 of a burst that was a whole core for 5000 messages a second, and after 30 s no heartbeat.
type incoming struct {
	*patient
	// read is how many deliveries the library has read, taken how many it has handed over.
	read, taken atomic.Int64

	// Only the reader uses the fields below.
	frames *bufio.Reader
	// rest is how many bytes of a frame are to come, split are confirmations that come before all others.
	rest  int
	split bytes.Buffer
	// All tags up to confirmed are confirmed, and the tags above it that had their own confirmation (alone).
	confirmed uint64
	alone     map[uint64]bool
}

// A frame is 1 byte of type, 2 of channel, 4 of size, the content of that size, and 1 more. A method's content begins with its class and
// number; a confirmation goes on with 8 bytes of tag, and 1 whose lowest bit is set if it is for all messages up to that tag.
const (
	methodFrame       = 1
	headBytes         = 7
	tagAt             = headBytes + 4
	severalAt         = tagAt + 8
	confirmationBytes = severalAt + 2
)

// Class 60 is basic: methods deliver, ack and nack.
const (
	deliver = 60<<16 | 60
	ack     = 60<<16 | 80
	nack    = 60<<16 | 120
)

func newIncoming(conn net.Conn) *incoming {
	raw := &patient{Conn: conn}
	return &incoming{patient: raw, frames: bufio.NewReader(raw), alone: map[uint64]bool{}}
}

// Read reads on as long as it does not have to wait: what has arrived together is counted together.
func (in *incoming) Read(into []byte) (n int, err error) {
	for err == nil && (n == 0 || n < len(into) && in.frames.Buffered() >= confirmationBytes) {
		more := 0
		switch {
		case in.split.Len() > 0:
			more, err = in.split.Read(into[n:])
		case in.rest > 0:
			more, err = in.frames.Read(into[n:min(n+in.rest, len(into))])
			in.rest -= more
		default:
			err = in.next()
		}
		n += more
	}
	return n, err
}

func (in *incoming) held() int64 { return -in.taken.Load() + in.read.Load() }

// --- internal ---

// next interprets the beginning of a frame, or a whole confirmation.
func (in *incoming) next() error {
	head, err := in.frames.Peek(headBytes)
	if err != nil {
		return err
	}
	size := headBytes + int(binary.BigEndian.Uint32(head[3:])) + 1
	if head[0] == methodFrame && size > tagAt {
		if head, err = in.frames.Peek(min(size, confirmationBytes)); err != nil {
			return err
		}
		switch method := binary.BigEndian.Uint32(head[headBytes:]); {
		case method == deliver:
			in.read.Add(1)
		case (method == ack || method == nack) && size == confirmationBytes:
			in.confirm(head)
			_, err = in.frames.Discard(size)
			return err
		}
	}
	in.rest = size
	return nil
}

// confirm passes a confirmation on as one for each of the messages that it covers and that had none.
func (in *incoming) confirm(frame []byte) {
	tag := binary.BigEndian.Uint64(frame[tagAt:])
	first := tag
	if frame[severalAt]&1 != 0 {
		first = in.confirmed + 1
	}
	frame[severalAt] &^= 1
	for ; first <= tag; first++ {
		if !in.alone[first] {
			in.alone[first] = true
			binary.BigEndian.PutUint64(frame[tagAt:], first)
			in.split.Write(frame)
		}
	}
	for ; in.alone[in.confirmed+1]; in.confirmed++ {
		delete(in.alone, in.confirmed+1)
	}
}
