package brokerless

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/rpc"
	"slices"
	"strings"
	"sync"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Main runs a forwarder until a signal ends it, with the arguments of its command line, without the program's name. For each topic it has a
// socket that takes messages from senders, and one that hands them to receivers. It stores nothing but the library's queues.
func Main(libraries map[string]Library, arguments []string, out io.Writer) error {
	known := strings.Join(slices.Sorted(maps.Keys(libraries)), ", ")
	flags := flag.NewFlagSet("forwarder", flag.ContinueOnError)
	flags.SetOutput(out)
	name := flags.String("library", "", "whose sockets: "+known)
	addr := flags.String("addr", "127.0.0.1:5555", "host:port for clients; sockets for messages are on ports of their own of that host")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	library := libraries[*name]
	if library == nil {
		return fmt.Errorf("-library must be one of %s, got %q", known, *name)
	}
	host, _, err := net.SplitHostPort(*addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "version %s\nlistening on %s\n", library.Version(), listener.Addr())
	f := &forwarder{library: library, host: host, passages: map[string]*passage{}}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go f.serve(conn)
	}
}

// service is the name of the forwarder's service for clients (net/rpc): the methods of client.
const service = "mqbench"

// --- internal ---

type forwarder struct {
	library Library
	host    string

	mu sync.Mutex
	// passages by mode and topic; in PubSub all topics share one.
	passages map[string]*passage
	users    int
}

// passage takes messages in and hands them on.
type passage struct {
	in       In
	entrance string
	out      Out
	// replying: a socket has one sender at a time.
	replying sync.Mutex
}

type client struct {
	of   *forwarder
	mode Mode
	// leave ends its subscription, if it has one.
	leave func()
}

// Hello comes first. The answer is the forwarder's description of itself.
func (c *client) Hello(mode Mode, version *string) error {
	c.mode, *version = mode, "mqbench's forwarder on "+c.of.library.Version()
	return nil
}

// Entrance is where messages of a topic go in.
func (c *client) Entrance(topic string, address *string) error {
	p, err := c.of.passage(c.mode, topic)
	if err == nil {
		*address = p.entrance
	}
	return err
}

// Subscribe connects to a subscription, for as long as the client is connected.
func (c *client) Subscribe(to broker.Endpoint, _ *string) error {
	p, err := c.of.passage(c.mode, to.Topic)
	if err != nil {
		return err
	}
	c.leave = func() { p.out.Disconnect(to.Address) }
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	return p.out.Connect(ctx, to.Address, prefixOf(to))
}

// serve answers one client. With the last one everything ends.
func (f *forwarder) serve(conn net.Conn) {
	f.mu.Lock()
	f.users++
	f.mu.Unlock()
	c := &client{of: f, leave: func() {}}
	server := rpc.NewServer()
	_ = server.RegisterName(service, c)
	server.ServeConn(conn)
	c.leave()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users--
	if f.users == 0 {
		for _, p := range f.passages {
			go func() { _ = errors.Join(p.in.Close(), p.out.Close()) }()
		}
		clear(f.passages)
	}
}

// passage of a topic, which it makes if need be.
func (f *forwarder) passage(mode Mode, topic string) (*passage, error) {
	key := string(mode) + topic
	if mode == PubSub {
		key = string(mode)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.passages[key]; p != nil {
		return p, nil
	}
	p := &passage{}
	var err error
	p.out, err = f.library.Sender(mode, func(m Message) {
		p.replying.Lock()
		defer p.replying.Unlock()
		_ = p.in.Reply(m)
	}, broker.NewBase("forwarder", broker.Options{}))
	if err != nil {
		return nil, err
	}
	// Messages that cannot be handed on are dropped silently: nothing here is acknowledged.
	p.in, p.entrance, err = f.library.Listen(mode, "", "tcp://"+net.JoinHostPort(f.host, "0"), func(m Message) { _ = p.out.Send(m) })
	if err != nil {
		return nil, errors.Join(err, p.out.Close())
	}
	f.passages[key] = p
	return p, nil
}
