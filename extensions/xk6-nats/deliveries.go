package nats

import (
	"bytes"
	"net"
	"strconv"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// deliveries is a dialer whose sockets count the messages of streams that the library reads from them. The library has them wait in
// channels of its own, and does not say how many there are.
type deliveries struct {
	nats.CustomDialer
	// read is how many the library has read, taken how many it has handed over.
	read, taken atomic.Int64
	// uncertain: a connection or a consumer was replaced. What it held is gone, and nobody knows how much that was.
	uncertain atomic.Bool
}

// counted is a socket of the library. Its fields are for the library's reader alone.
type counted struct {
	net.Conn
	of *deliveries
	// line is the beginning of a line of which the end was not read yet; rest is how much of a message's content is to come.
	line []byte
	rest int
}

func (d *deliveries) Dial(network, address string) (net.Conn, error) {
	conn, err := d.CustomDialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &counted{Conn: conn, of: d}, nil
}

func (c *counted) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.scan(into[:n])
	return n, err
}

// --- internal ---

// scan goes through what was read, which may end anywhere. A message is a line, MSG subject sid [reply] size or HMSG with the size of
// its header before that, and its content. Where the message is from a stream its consumer's answer goes to $JS.ACK.
func (c *counted) scan(b []byte) {
	for len(b) > 0 {
		if c.rest > 0 {
			n := min(c.rest, len(b))
			c.rest -= n
			b = b[n:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			c.line = append(c.line, b...)
			return
		}
		line := b[:end]
		if len(c.line) > 0 {
			c.line = append(c.line, line...)
			line = c.line
		}
		if bytes.HasPrefix(line, []byte("MSG ")) || bytes.HasPrefix(line, []byte("HMSG ")) {
			line = bytes.TrimSpace(line)
			size, _ := strconv.Atoi(string(line[bytes.LastIndexByte(line, ' ')+1:]))
			c.rest = size + len("\r\n")
			if bytes.Contains(line, []byte(" $JS.ACK.")) {
				c.of.read.Add(1)
			}
		}
		c.line, b = c.line[:0], b[end+1:]
	}
}
