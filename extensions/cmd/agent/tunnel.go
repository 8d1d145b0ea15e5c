package main

import (
	"errors"
	"fmt"
	"io"
	"net"
)

// tunnel connects to a port and copies in both directions until one side ends. It runs over the connection that carries agent's
// standard input and output, for hosts whose sshd forwards no ports.
func tunnel(address string, in io.Reader, out io.Writer) error {
	connection, err := net.DialTimeout("tcp", address, connectTime)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	go func() {
		_, _ = io.Copy(connection, in)
		_ = connection.Close()
	}()
	_, err = io.Copy(out, connection)
	_ = connection.Close()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("read from %s: %w", address, err)
	}
	return nil
}
