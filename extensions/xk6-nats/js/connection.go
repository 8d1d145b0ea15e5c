package js

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

const (
	connectTimeout = 5 * time.Second
	requestTimeout = 5 * time.Second
	flushTimeout   = 5 * time.Second
	reconnectWait  = 100 * time.Millisecond
)

// connection is shared by the VUs of a process whose configuration is the same.
type connection struct {
	*nats.Conn
	stream nats.JetStreamContext
	// servers, for messages, without passwords.
	servers string
}

// connect returns the connection of a configuration, which it makes for the first VU. It lasts until the test ends.
func (m *Module) connect(own Configuration) (*connection, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.shared[own.key()]; one != nil {
		return one, nil
	}
	options, err := own.options()
	if err != nil {
		return nil, err
	}
	one := &connection{servers: address.MaskedText(strings.Join(own.Servers, ", "))}
	one.Conn, err = nats.Connect(strings.Join(own.Servers, ","), options...)
	if errors.Is(err, nats.ErrNoServers) {
		err = errors.New("no server answers there; is it running?")
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", one.servers, address.Cause(err))
	}
	if one.stream, err = one.JetStream(nats.MaxWait(requestTimeout)); err != nil {
		return nil, err
	}
	m.shared[own.key()] = one
	m.test.AtEnd(func() {
		_ = one.FlushTimeout(flushTimeout)
		one.Close()
	})
	return one, nil
}
