package address

import (
	"net"
	"sync"
)

// Wires makes and keeps the sockets of a client library that accepts a dialer. It closes a socket when a write fails half-way: a library
// that went on writing would make the server take the next message for the rest of that one. Its methods may be called from
// any goroutine.
type Wires struct {
	// Dialer makes the sockets; its Timeout bounds that.
	Dialer net.Dialer
	mu     sync.Mutex
	open   map[*wire]struct{}
}

type wire struct {
	net.Conn
	of *Wires
}

// Dial makes a socket. It returns net's own error.
func (w *Wires) Dial(network, address string) (net.Conn, error) {
	conn, err := w.Dialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	made := &wire{conn, w}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[*wire]struct{}{}
	}
	w.open[made] = struct{}{}
	return made, nil
}

// Cut closes all sockets, so that calls that block on them end with an error.
func (w *Wires) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.open {
		_ = one.Conn.Close()
	}
}

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if err != nil {
		_ = w.Close()
	}
	return n, err
}

func (w *wire) Close() error {
	w.of.mu.Lock()
	delete(w.of.open, w)
	w.of.mu.Unlock()
	return w.Conn.Close()
}
