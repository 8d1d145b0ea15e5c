//go:build !linux

package redis

import "net"

// unread works on Linux only.
func unread(net.Conn) (bytes int, known bool) { return 0, false }
