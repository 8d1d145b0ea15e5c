package mqtt

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// link is one connection of a library. The library does not reconnect it.
type link interface {
	// publish hands a message over. After an error it may not have left. answer, if not nil, waits for the server's answer, or with QoS 0 for the write.
	publish(topic string, payload []byte) (answer func() error, err error)
	// subscribe returns the QoS that the server grants, or its refusal.
	subscribe(ctx context.Context, filter string) (byte, error)
	broker.Wire
	// end ends the connection. Sends that are not acknowledged are then completed.
	end(reason error)
	// part says goodbye first.
	part()
}

// ending is the common part of both libraries' links: a context that ends with the connection, or with the session.
type ending struct {
	broker.Lifetime
	// late is closed when the connection has ended and answers had the time to arrive.
	late chan struct{}
}

// lastAnswers is how long a library may take to report answers when a connection is over.
const lastAnswers = 200 * time.Millisecond

const goodbyeTimeout = 50 * time.Millisecond

func (s *session) ending(socket *wire) *ending {
	e := &ending{broker.NewLifetime(s.Over), make(chan struct{})}
	context.AfterFunc(e, func() {
		socket.goodbye()
		_ = socket.Close()
		time.AfterFunc(lastAnswers, func() { close(e.late) })
	})
	return e
}

func (e *ending) end(reason error) { e.End(reason) }

// client is one client id of the server: a producer, or one subscription. It replaces its link when that is lost.
type client struct {
	broker.Link[link]
	s      *session
	number int
	// filter is "" of a producer.
	filter string
	// persistent: the server keeps the client's session while it is not connected.
	persistent bool
	take       func(payload []byte, again bool)
	// unanswered are a producer's messages, and slots bounds them. Servers answer in the order of sending.
	unanswered *broker.Unanswered[func() error]
	slots      chan struct{}
	// kept is the library's state of a persistent session from one connection to the next.
	kept any
	// patience is how long an answer to a packet may take, readBytes the size of the buffer.
	patience  time.Duration
	readBytes int
}

var (
	errNotConnected = errors.New("mqtt: not connected")
	errUnanswered   = fmt.Errorf("mqtt: connection lost: %w", broker.ErrUnknown)
	errClosed       = errors.New("mqtt: the session is closed")
)

func (c *client) id() string { return c.s.name + "-" + strconv.Itoa(c.number) }

func (c *client) Send(m *broker.Message, done broker.Done) {
	l, is := c.Now()
	if !is || c.s.Over.Err() != nil {
		done(m, 0, errNotConnected)
		return
	}
	select {
	case c.slots <- struct{}{}:
	case <-l.Done():
		done(m, 0, errNotConnected)
		return
	}
	answer, err := l.publish(c.s.names[m.Topic], m.Payload)
	switch {
	case answer == nil:
		<-c.slots
		done(m, 0, err)
	case c.s.own.QoS == 0:
		c.unanswered.Add(m, func(m *broker.Message, _ int64, err error) { done(m, 0, err) }, answer)
	default:
		c.unanswered.Add(m, done, answer)
	}
}

// forget ends the session that the server keeps for this client.
func (c *client) forget(ctx context.Context) error {
	if l, is := c.Now(); is {
		l.end(errClosed)
	}
	if !c.persistent {
		return nil
	}
	c.persistent, c.filter = false, ""
	l, err := c.link(ctx)
	if err == nil {
		l.end(errClosed)
	}
	return err
}

func (c *client) link(ctx context.Context) (made link, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	dial, hosts := dial5, c.s.at.Hosts
	if c.s.own.Protocol == version3 {
		dial = dial3
	}
	for i := range hosts { // another node if one is gone
		if made, err = dial(ctx, c, hosts[(c.number+i)%len(hosts)]); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if c.filter != "" {
		granted, err := made.subscribe(ctx, c.filter)
		if err == nil && granted != c.s.own.QoS {
			err = fmt.Errorf("the server grants QoS %d, and qos is %d; set what it grants", granted, c.s.own.QoS)
		}
		if err != nil {
			made.end(err)
			return nil, fmt.Errorf("subscribe to %q: %w", c.filter, err)
		}
	}
	return made, nil
}

// wire is a socket. The libraries read a packet's header byte by byte, and paho.golang locks the socket for each packet and writes that in
// several pieces; here they leave in one write.
type wire struct {
	net.Conn
	reader *bufio.Reader
	mu     sync.Mutex
	// packet is nil with paho.mqtt.golang, which never locks.
	packet *bufio.Writer
}

var _ sync.Locker = (*wire)(nil)

// dialWire connects. Packets that are larger than packetBytes take two writes; with 0 no packet is collected.
func (c *client) dialWire(ctx context.Context, host string, packetBytes int) (*wire, error) {
	s := c.s
	conn, err := s.Dialer(0, s.security)(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	below := conn
	if secure, is := conn.(*tls.Conn); is {
		below = secure.NetConn()
	}
	if err := below.(*net.TCPConn).SetNoDelay(s.own.NoDelay); err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, reader: bufio.NewReaderSize(conn, c.readBytes)}
	if packetBytes > 0 {
		w.packet = bufio.NewWriterSize(conn, packetBytes)
	}
	return w, nil
}

func (w *wire) Read(p []byte) (int, error) { return w.reader.Read(p) }

func (w *wire) Write(p []byte) (int, error) {
	if w.packet == nil {
		return w.Conn.Write(p)
	}
	return w.packet.Write(p)
}

// SetWriteDeadline does nothing: a server that takes nothing for a while holds up the sender, and that is measured.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

func (w *wire) Lock() { w.mu.Lock() }

// Unlock writes the packet. After an error the socket is closed, because half a packet may have left.
func (w *wire) Unlock() {
	defer w.mu.Unlock()
	if w.packet.Flush() != nil {
		_ = w.Conn.Close()
	}
}

// goodbye sends the packet DISCONNECT, which is the same in both versions of the protocol, unless the server takes nothing.
func (w *wire) goodbye() {
	_ = w.Conn.SetWriteDeadline(time.Now().Add(goodbyeTimeout))
	if w.packet != nil {
		w.Lock()
		defer w.Unlock()
	}
	_, _ = w.Write([]byte{0xe0, 0})
}

func (w *wire) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.packet.Flush() != nil
}

// trialTimeout is how long the one message of a trial may take. Tests shorten it.
var trialTimeout = 10 * time.Second

const (
	// versionTimeout is short: servers that publish their version have it in a retained message, which comes at once.
	versionTimeout = 300 * time.Millisecond
	versionTopic   = "$SYS/broker/version"
)

// try sends a message as large as the run's, or the server's limit, to a single or shared subscription, because servers exist that
// acknowledge a message or a subscription and then deliver nothing: mosquitto a message above its message_size_limit, nats-server anything
// to a shared subscription. It tries nothing on the user's topics, because they may be all that the user has the right to.
func (s *session) try(ctx context.Context, share string) error {
	if s.Run != "" {
		return nil
	}
	producer, is := s.producers[0].Now()
	if !is {
		return errNotConnected
	}
	topic, bytes := s.name+"/trial", cmp.Or(s.LimitBytes, s.MessageBytes)
	arrived, end, err := s.listen(ctx, share+topic)
	if err != nil {
		return err
	}
	defer end()
	answer, err := producer.publish(topic, make([]byte, bytes))
	sent := make(chan error, 1)
	if answer == nil {
		sent <- err
	} else {
		go func() { sent <- answer() }()
	}
	limit := time.After(trialTimeout)
	for taken := false; ; {
		select {
		case err := <-sent:
			if errors.Is(err, broker.ErrUnknown) {
				return fmt.Errorf("the server ends the connection when it gets a message of %d bytes; send smaller ones, or raise its limit", bytes)
			}
			if err != nil {
				return fmt.Errorf("a message of %d bytes: %w", bytes, err)
			}
			taken = true
		case <-arrived:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-limit:
			rights := ""
			if s.own.Protocol == version3 {
				rights = "; or give this user the right to that topic: MQTT 3.1.1 has no words for a right that is missing"
			}
			switch {
			case !taken:
				return fmt.Errorf("the server (%s) does not answer within %s", s.server, trialTimeout)
			case share != "":
				return fmt.Errorf("the server (%s) accepts a shared subscription and delivers nothing to it, so consumers cannot share a topic there; "+
					"use a server with shared subscriptions, such as mosquitto", s.server)
			}
			return fmt.Errorf("the server (%s) accepts a message of %d bytes and does not deliver it; send smaller ones, or raise its limit "+
				"(message_size_limit of mosquitto)%s", s.server, bytes, rights)
		}
	}
}

// listen subscribes for a moment, until end is called, and hands over the first message.
func (s *session) listen(ctx context.Context, filter string) (first <-chan string, end func(), err error) {
	arrived := make(chan string, 1)
	l, err := s.client(filter, func(payload []byte, _ bool) {
		select {
		case arrived <- string(payload):
		default:
		}
	}).link(ctx)
	return arrived, func() { l.end(errClosed) }, err
}

// askServer is the server's name and version from its topic.
func (s *session) askServer(ctx context.Context) string {
	if said, end, err := s.listen(ctx, versionTopic); err == nil {
		defer end()
		select {
		case text := <-said:
			return strings.Replace(text, " version ", " ", 1)
		case <-time.After(versionTimeout):
		}
	}
	return "an MQTT server that does not say which"
}
