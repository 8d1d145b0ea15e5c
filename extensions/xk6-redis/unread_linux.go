package redis

import (
	"crypto/tls"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// unread is how many bytes have arrived in a socket and were not read yet; of TLS they are encrypted. A closed socket has none.
func unread(conn net.Conn) (bytes int, known bool) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	socket, known := conn.(syscall.Conn)
	if !known {
		return 0, false
	}
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { bytes, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	return bytes, true
}
