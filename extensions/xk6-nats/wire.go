package nats

import (
	"net"
	"sync"
)

// wires are the sockets below the library's connections. The library writes on after a write that has failed half-way, and the server
// would take what follows for the rest of that message: such a socket is closed. So is one whose write holds up the end.
type wires struct {
	dialer net.Dialer
	mu     sync.Mutex
	open   map[*wire]struct{}
}

type wire struct {
	net.Conn
	of *wires
}

// Dial is for nats.SetCustomDialer.
func (w *wires) Dial(network, address string) (net.Conn, error) {
	conn, err := w.dialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	made := &wire{conn, w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[made] = struct{}{}
	return made, nil
}

// cut closes all sockets.
func (w *wires) cut() {
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
