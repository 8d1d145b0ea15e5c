package redis

import (
	"crypto/tls"
	"net"
	"syscall"
	"unsafe"
)

// unread is how many bytes have arrived in a socket and were not read yet; of TLS they are encrypted. A closed socket has none.
func unread(conn net.Conn) (bytes int, known bool) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return 0, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, true
	}
	var n int32
	_ = raw.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ, uintptr(unsafe.Pointer(&n)))
	})
	return int(n), true
}
