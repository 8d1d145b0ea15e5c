package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// examine asks the server what it is, and refuses what this driver cannot measure.
func (s *session) examine(ctx context.Context) error {
	var info string
	err := s.ask(ctx, func(k *socket) (err error) {
		info, err = k.client.Info(ctx, "server").Result()
		return err
	})
	if err != nil {
		return err
	}
	facts := map[string]string{}
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			facts[key] = value
		}
	}
	version := facts["redis_version"]
	s.server = map[string]string{"name": "redis-server " + version}
	if valkey := facts["valkey_version"]; valkey != "" {
		s.server["name"] = "valkey-server " + valkey
	}
	if mode := facts["redis_mode"]; mode != "" && mode != "standalone" {
		return fmt.Errorf("the server runs as %s; mqbench measures a single Redis server, not a cluster and not sentinels", mode)
	}
	if s.mode != modePubSub && older(version, least) {
		return fmt.Errorf("mode %s needs Redis %s or newer; the server is %s", s.mode, least, s.server["name"])
	}
	// Some services forbid CONFIG; then the setting is unknown.
	for _, key := range []string{"appendonly", "appendfsync", "save", "client-output-buffer-limit"} {
		value := "unknown: CONFIG GET is refused"
		_ = s.ask(ctx, func(k *socket) error {
			found, err := k.client.ConfigGet(ctx, key).Result()
			if err == nil {
				value = strconv.Quote(found[key])
			}
			return err
		})
		s.server[key] = value
	}
	return nil
}

// least is the first version with LMOVE and XAUTOCLAIM.
const least = "6.2"

// atOnce is how many keys one command or pipeline makes or removes.
const atOnce = 500

// clear removes what is stored under the topics' names, by any session.
func (s *session) clear(ctx context.Context) error {
	if s.mode == modePubSub {
		return nil
	}
	var keys []string
	var members []*redis.StringSliceCmd
	for _, t := range s.topics {
		keys = append(keys, t.name)
		if s.mode == modeLists {
			keys = append(keys, membersOf(t.name))
		}
	}
	if s.mode == modeLists {
		err := s.each(ctx, func(p redis.Pipeliner, t *topic) {
			members = append(members, p.SMembers(ctx, membersOf(t.name)))
		})
		if err != nil {
			return err
		}
	}
	for i, found := range members {
		for _, member := range found.Val() {
			keys = append(keys, takenBy(s.topics[i].name, member))
		}
	}
	for some := range slices.Chunk(keys, atOnce) {
		if err := s.ask(ctx, func(k *socket) error { return k.client.Unlink(ctx, some...).Err() }); err != nil {
			return err
		}
	}
	return nil
}

// each asks something about every topic, a few hundred in each pipeline.
func (s *session) each(ctx context.Context, queue func(redis.Pipeliner, *topic)) error {
	for some := range slices.Chunk(s.topics, atOnce) {
		err := s.ask(ctx, func(k *socket) error {
			_, err := k.client.Pipelined(ctx, func(p redis.Pipeliner) error {
				for _, t := range some {
					queue(p, t)
				}
				return nil
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ask runs commands that are not measured, one caller at a time, on a connection that is replaced when it breaks.
func (s *session) ask(ctx context.Context, commands func(*socket) error) error {
	s.adminMu.Lock()
	defer s.adminMu.Unlock()
	if s.admin == nil {
		k, err := s.dial(ctx, commandTimeout)
		if err != nil {
			return err
		}
		s.admin = k
	}
	err := commands(s.admin)
	if err != nil && !refused(err) && !errors.Is(err, redis.Nil) {
		s.drop(s.admin)
		s.admin = nil
	}
	return err
}

// older compares the first two numbers of versions. A version that cannot be read is not older.
func older(version, least string) bool {
	var a, b, x, y int
	if n, _ := fmt.Sscanf(version, "%d.%d", &a, &b); n != 2 {
		return false
	}
	_, _ = fmt.Sscanf(least, "%d.%d", &x, &y)
	return a < x || a == x && b < y
}

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
