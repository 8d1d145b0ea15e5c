package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	connectTimeout = 5 * time.Second
	reconnectWait  = 100 * time.Millisecond
	// commandTimeout limits requests that are not measured: making and removing topics, signs of life.
	commandTimeout = 5 * time.Second
	// bufferBytes of the library's sockets and of our writer, for each direction.
	bufferBytes = 64 * 1024
	// protocol is RESP2: the parts that this driver uses are the same in RESP3, and every server and fork speaks it.
	protocol = 2
)

// examine looks up the server's kind and version, and refuses a server that this driver cannot measure.
func (s *session) examine(ctx context.Context) error {
	admin := s.shards[0].admin
	info := admin.InfoMap(ctx, "server")
	if err := info.Err(); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	version := info.Item("Server", "redis_version")
	s.server = "redis-server " + version
	if valkey := info.Item("Server", "valkey_version"); valkey != "" {
		s.server = "valkey-server " + valkey
	}
	switch mode := cmp.Or(info.Item("Server", "server_mode"), info.Item("Server", "redis_mode")); { // Valkey's word first
	case mode == "cluster":
		s.cluster = true
		if err := s.discover(ctx); err != nil {
			return fmt.Errorf("look up the cluster: %w", err)
		}
	case mode != "" && mode != "standalone":
		return fmt.Errorf("the server runs as %s; mqbench measures a Redis server or a cluster, not sentinels", mode)
	case len(s.addresses) > 1:
		return errors.New("the URL names several hosts, and the first one is not in a cluster; name one host")
	}
	if s.Mode != modePubSub && older(version) {
		return fmt.Errorf("mode %s needs Redis 6.2 or newer; the server is %s", s.Mode, s.server)
	}
	keys := []string{"appendonly", "appendfsync", "save"}
	if s.Mode == modePubSub {
		keys = append(keys, "client-output-buffer-limit")
	}
	for _, key := range keys {
		s.found["server "+key] = "unknown: CONFIG GET is refused" // by some services
		if found, err := admin.ConfigGet(ctx, key).Result(); err == nil {
			s.found["server "+key] = strconv.Quote(found[key])
		}
	}
	return nil
}

// older reports whether a version lacks LMOVE and XAUTOCLAIM. One that cannot be read does not.
func older(version string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return n == 2 && (major < 6 || major == 6 && minor < 2)
}

// socket is one connection, logged in. The library never reconnects it: when it breaks, its link makes another one, and that is counted.
type socket struct {
	client *redis.Client
	// pubsub is nil except on subscribers' sockets.
	pubsub *redis.PubSub
	conn   net.Conn
	broker.Lifetime
}

func newLink[W broker.Wire]() broker.Link[W] {
	return broker.Link[W]{First: reconnectWait, Wait: reconnectWait}
}

// connect makes a socket, for commands that wait for their answers or for subscriptions. It ends with the session.
func (s *session) connect(ctx context.Context, to *shard, subscribes bool) (*socket, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return s.socket(ctx, subscribes, s.options(to, -1)) // the library's value for no timeout
}

func (s *session) socket(ctx context.Context, subscribes bool, options *redis.Options) (*socket, error) {
	k := &socket{Lifetime: broker.NewLifetime(s.Over)}
	dialer := options.Dialer
	var once sync.Once // the library dials again when a dial has failed
	options.Dialer = func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
		err = errNotConnected
		once.Do(func() {
			if conn, err = dialer(ctx, network, addr); err == nil { // else it may be a nil of the type *tls.Conn
				k.conn = conn
			}
		})
		return conn, err
	}
	k.client = redis.NewClient(options)
	connect := func() error { return k.client.Ping(ctx).Err() }
	if subscribes {
		k.pubsub = k.client.Subscribe(s.Over)
		connect = func() error { return k.pubsub.Ping(ctx) } // its answer is ignored later
	}
	err := connect()
	if err == nil {
		// Subtle: the library leaves the deadline of its last command on the connection, and the link would run into it.
		err = k.conn.SetDeadline(time.Time{})
	}
	context.AfterFunc(k, func() {
		if k.conn != nil {
			_ = k.conn.Close()
		}
		_ = k.client.Close()
	})
	if err != nil {
		k.End(err)
		return nil, fmt.Errorf("connect: %w", err)
	}
	return k, nil
}

// options of a client with one socket. timeout limits each command.
func (s *session) options(to *shard, timeout time.Duration) *redis.Options {
	options := *to.at.Load()
	options.Protocol = protocol
	options.ClientName = s.name
	options.DisableIdentity = true
	options.DialTimeout = connectTimeout
	options.DialerRetries = 1
	options.Dialer = func(ctx context.Context, _, _ string) (net.Conn, error) {
		if s.cluster && to.moved.Swap(false) {
			s.relocate(ctx, to)
		}
		at := *to.at.Load()
		at.DialTimeout = options.DialTimeout // as it is by then
		conn, err := s.Mortal(redis.NewDialer(&at))(ctx, at.Network, at.Addr)
		if err != nil {
			to.moved.Store(true)
		}
		return conn, err
	}
	options.MaxRetries = -1
	options.ReadTimeout, options.WriteTimeout = timeout, timeout
	options.ContextTimeoutEnabled = true
	options.ReadBufferSize, options.WriteBufferSize = bufferBytes, bufferBytes
	options.PoolSize, options.MaxActiveConns = 1, 1
	options.PoolTimeout = connectTimeout
	options.ConnMaxIdleTime = -1
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &options
}

// refused reports whether err is an answer of the server: the connection still works.
func refused(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer) && !errors.Is(err, redis.Nil) && !strings.HasPrefix(err.Error(), "LOADING")
}
