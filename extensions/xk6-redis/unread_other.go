//go:build !linux

package redis

import "net"

// unread is known on Linux only.
func unread(net.Conn) (bytes int, known bool) { return 0, false }
