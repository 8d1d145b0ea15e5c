package address

import (
	"net"
	"sync"
)

// Wires are the sockets below a client library's connections, for who takes a dialer. A socket of which a write has failed half-way is
// closed: a library that writes on would have the server take what follows for the rest of that message. Any goroutine may call its
// methods.
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

// Dial makes a socket; its error is net's own.
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

// Cut closes all sockets: what they hold up ends with an error.
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
