package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	connectTimeout = 5 * time.Second
	reconnectWait  = 100 * time.Millisecond
	// commandTimeout limits what is not measured: making and removing topics, signs of life.
	commandTimeout = 5 * time.Second
	// bufferBytes of the library's sockets and of our writer, for each direction.
	bufferBytes = 64 * 1024
	// protocol is RESP2: what this driver uses is the same in RESP3, and every server and fork speaks it.
	protocol = 2
)

// socket is one TCP (or TLS) connection, logged in and with its database selected. The library never reconnects it: when it breaks, its
// owner makes another one, and that is counted.
type socket struct {
	client *redis.Client
	// pubsub is nil except on subscribers' sockets.
	pubsub *redis.PubSub
	conn   net.Conn
}

func (k *socket) close() {
	_ = k.conn.Close()
	if k.pubsub != nil {
		_ = k.pubsub.Close()
	}
	_ = k.client.Close()
}

// do sends one command and waits for its answer.
func (k *socket) do(ctx context.Context, args ...any) (any, error) {
	return k.client.Do(ctx, args...).Result()
}

// dial makes a socket for commands. timeout limits each of them; 0: wait for an answer however late it comes.
func (s *session) dial(ctx context.Context, timeout time.Duration) (*socket, error) {
	return s.connect(ctx, timeout, func(ctx context.Context, k *socket) error { return k.client.Ping(ctx).Err() })
}

// listen makes a socket for subscriptions.
func (s *session) listen(ctx context.Context) (*socket, error) {
	return s.connect(ctx, 0, func(ctx context.Context, k *socket) error {
		k.pubsub = k.client.Subscribe(s.Over)
		return k.pubsub.Ping(ctx) // connects; its answer is ignored later
	})
}

// connect makes a socket. first is the call that makes the library connect.
func (s *session) connect(ctx context.Context, timeout time.Duration, first func(context.Context, *socket) error) (*socket, error) {
	ctx, cancel := context.WithTimeout(ctx, s.connectTimeout)
	defer cancel()
	options := *s.address
	if timeout == 0 {
		timeout = -1 // the library's value for no timeout
	}
	options.Protocol = protocol
	options.ClientName = s.name
	options.DisableIdentity = true
	options.DialTimeout = connectTimeout
	options.DialerRetries = 1
	options.MaxRetries = -1
	options.ReadTimeout, options.WriteTimeout = timeout, timeout
	options.ContextTimeoutEnabled = true
	options.ReadBufferSize, options.WriteBufferSize = bufferBytes, bufferBytes
	options.PoolSize, options.MaxActiveConns = 1, 1
	options.PoolTimeout = connectTimeout
	options.ConnMaxIdleTime = -1
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	dialer := redis.NewDialer(&options)
	k := &socket{}
	var once sync.Mutex
	options.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		once.Lock()
		defer once.Unlock()
		if k.conn != nil {
			return nil, errNotConnected
		}
		conn, err := dialer(ctx, network, addr)
		if err == nil {
			k.conn = conn
		}
		return conn, err
	}
	k.client = redis.NewClient(&options)
	if err := first(ctx, k); err != nil {
		_ = k.client.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	// Subtle: the library leaves the deadline of its last command on the connection, and the link would run into it.
	if err := k.conn.SetDeadline(time.Time{}); err != nil {
		k.close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	if !s.keep(k) {
		k.close()
		return nil, errClosed
	}
	return k, nil
}

// keep registers an open socket so that Close can end it. It returns false if the session is closed.
func (s *session) keep(k *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.sockets[k] = struct{}{}
	return true
}

// drop ends a socket.
func (s *session) drop(k *socket) {
	s.mu.Lock()
	delete(s.sockets, k)
	s.mu.Unlock()
	k.close()
}

// again replaces a broken socket, however long that takes. It returns nil if the session has ended.
func (s *session) again(k *socket, reason error, connect func(context.Context) (*socket, error)) *socket {
	s.drop(k)
	if s.Over.Err() != nil {
		return nil
	}
	s.Report("connection lost", address.Cause(reason))
	var made *socket
	err := deadline.Retry(s.Over, reconnectWait, reconnectWait, func() (err error) {
		made, err = connect(s.Over)
		return err
	})
	if err == nil {
		s.Reconnected()
	}
	return made
}

// redial makes a socket for commands that wait for their answers.
func (s *session) redial(ctx context.Context) (*socket, error) { return s.dial(ctx, 0) }

// refused reports whether err is an answer of the server, so that the connection still works.
func refused(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer) && !errors.Is(err, redis.Nil) && !strings.HasPrefix(err.Error(), "LOADING")
}
