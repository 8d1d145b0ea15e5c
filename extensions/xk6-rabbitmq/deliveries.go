package rabbitmq

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync/atomic"
)

// deliveries is a socket that counts the deliveries that the library reads from it. The library has them wait in a queue without end, and
// does not say how many there are. A frame is 1 byte of type, 2 of channel, 4 of size, so many of content, and 1 more; a method's content
// begins with its class and number.
type deliveries struct {
	net.Conn
	// read is how many the library has read, taken how many it has handed over.
	read, taken atomic.Int64
	// head is the beginning of a frame, have how much of it was read; rest is how much of the frame is to come. For the reader alone.
	head       [11]byte
	have, rest int
}

const methodFrame = 1

// deliver is the method basic.deliver: class 60, number 60.
var deliver = []byte{0, 60, 0, 60}

func (d *deliveries) Read(into []byte) (int, error) {
	n, err := d.Conn.Read(into)
	d.scan(into[:n])
	return n, err
}

// held is how many wait in the library. What is encrypted cannot be counted.
func (d *deliveries) held() int64 { return -d.taken.Load() + d.read.Load() }

// --- internal ---

// scan goes through what was read, which may end anywhere in a frame.
func (d *deliveries) scan(b []byte) {
	for len(b) > 0 {
		if d.rest > 0 {
			n := min(d.rest, len(b))
			d.rest -= n
			b = b[n:]
			continue
		}
		whole := 7
		if d.have >= 7 { // a method
			whole = len(d.head)
		}
		n := copy(d.head[d.have:whole], b)
		d.have += n
		b = b[n:]
		if d.have < whole || d.have == 7 && d.head[0] == methodFrame {
			continue
		}
		if d.have == len(d.head) && bytes.Equal(d.head[7:], deliver) {
			d.read.Add(1)
		}
		d.rest = 7 + int(binary.BigEndian.Uint32(d.head[3:])) + 1 - d.have
		d.have = 0
	}
}
