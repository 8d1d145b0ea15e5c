package mqtt

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// wire is a socket. paho.golang locks it for each packet and writes that in several pieces; here they leave in one write.
type wire struct {
	net.Conn
	reader *bufio.Reader

	mu     sync.Mutex
	packet []byte
	locked bool
	// err of the first write that failed.
	err error
}

var _ sync.Locker = (*wire)(nil)

func (s *session) dialWire(ctx context.Context, host string) (*wire, error) {
	conn, err := (&net.Dialer{Timeout: connectTimeout}).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	if err := conn.(*net.TCPConn).SetNoDelay(s.own.NoDelay); err != nil {
		return nil, err
	}
	if s.security != nil {
		config := s.security.Clone()
		if config.ServerName == "" {
			config.ServerName, _, _ = net.SplitHostPort(host)
		}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, err
		}
		conn = secure
	}
	return &wire{Conn: conn, reader: bufio.NewReaderSize(conn, readBufferBytes)}, nil
}

func (w *wire) Read(p []byte) (int, error) { return w.reader.Read(p) }

// Write is for a piece of a packet, or without Lock for a whole one.
func (w *wire) Write(p []byte) (int, error) {
	if !w.locked { // paho.mqtt.golang, which never locks
		return w.Conn.Write(p)
	}
	w.packet = append(w.packet, p...)
	return len(p), nil
}

// SetWriteDeadline does nothing: a server that takes nothing for a while holds up the sender, and that is measured.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

func (w *wire) Lock() {
	w.mu.Lock()
	w.locked = true
}

// Unlock writes the packet. After an error the socket is closed, because half a packet may have left.
func (w *wire) Unlock() {
	defer w.mu.Unlock()
	if w.err == nil {
		if _, w.err = w.Conn.Write(w.packet); w.err != nil {
			_ = w.Conn.Close()
		}
	}
	w.locked, w.packet = false, w.packet[:0]
	if cap(w.packet) > 4*readBufferBytes {
		w.packet = nil
	}
}

func (w *wire) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
