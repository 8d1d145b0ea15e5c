package mqtt

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// link3 is a connection of paho.mqtt.golang.
type link3 struct {
	ending
	s       *session
	library paho.Client
	// slots bounds what is on its way: in MQTT 3.1.1 the server does not say how much it takes.
	slots chan struct{}
	// tokens in the order of sending, which is the one of acknowledgements.
	tokens  chan token
	sending sync.Mutex
}

type token struct {
	paho.Token
	sent
}

// takeTimeout: the library's Publish waits that long for a writer that a lost connection has ended. A write has no timeout (client.go).
const takeTimeout = 200 * time.Millisecond

// lastTokens is how long the library may take to complete its tokens when a connection is over. It forgets some.
const lastTokens = 200 * time.Millisecond

func dial3(ctx context.Context, c *client, host string) (link, error) {
	socket, err := c.s.dialWire(ctx, host)
	if err != nil {
		return nil, err
	}
	most := c.s.own.ReceiveMaximum
	l := &link3{
		ending: ending{gone: make(chan struct{}), wire: socket}, s: c.s,
		slots: make(chan struct{}, most), tokens: make(chan token, most),
	}
	var store paho.Store = paho.NewMemoryStore()
	if c.persistent {
		if remembered, ok := c.kept.(paho.Store); ok {
			store = remembered
		}
		c.kept = store
	}
	keepAlive := time.Duration(c.s.own.KeepAliveNs)
	l.library = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + host).SetClientID(c.id()).SetProtocolVersion(4).
		SetCleanSession(!c.persistent).SetUsername(c.s.at.User).SetPassword(c.s.at.Password).
		SetKeepAlive(keepAlive).SetPingTimeout(max(keepAlive, time.Second)).SetWriteTimeout(takeTimeout).SetConnectTimeout(connectTimeout).
		SetAutoReconnect(false).SetConnectRetry(false).SetResumeSubs(false).SetOrderMatters(true).SetStore(store).
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return socket, nil }).
		SetConnectionLostHandler(func(_ paho.Client, err error) { l.over(err) }).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) {
			if c.take != nil {
				c.take(m.Payload(), m.Duplicate())
			}
		}))
	if err := wait(ctx, l.library.Connect()); err != nil {
		_ = socket.Close()
		return nil, err
	}
	late := make(chan struct{})
	go l.complete(late)
	go l.abandon(late)
	return l, nil
}

func (l *link3) publish(m *broker.Message, topic string, done broker.Done) {
	select {
	case l.slots <- struct{}{}:
	case <-l.gone:
		done(m, 0, errNotConnected)
		return
	}
	l.sending.Lock()
	defer l.sending.Unlock()
	for !l.isOver() {
		if t := l.library.Publish(topic, l.s.own.QoS, false, m.Payload); !notTaken(t) {
			l.tokens <- token{t, sent{m, done}}
			return
		}
	}
	done(m, 0, errNotConnected)
}

// notTaken is a Publish that gave up before the library's writer took the message. It costs one of 65535 message ids.
func notTaken(t paho.Token) bool {
	select {
	case <-t.Done():
		return t.Error() != nil && t.Error().Error() == "publish was broken by timeout" // the library has no name for it
	default:
		return false
	}
}

func (l *link3) subscribe(ctx context.Context, filter string) (byte, error) {
	t := l.library.Subscribe(filter, l.s.own.QoS, nil)
	if err := wait(ctx, t); err != nil {
		return 0, err
	}
	for _, granted := range t.(*paho.SubscribeToken).Result() { // the only one, under a name without $share
		if granted < 0x80 {
			return granted, nil
		}
	}
	return 0, errors.New("refused, and MQTT 3.1.1 does not say why")
}

// --- internal ---

// complete reports what became of messages.
func (l *link3) complete(late <-chan struct{}) {
	for t := range l.tokens {
		select {
		case <-t.Done():
		case <-late:
		}
		nowNs := l.s.Now()
		<-l.slots
		t.settle(nowNs, l.s.own.QoS)
	}
}

// abandon ends complete when the connection is over.
func (l *link3) abandon(late chan<- struct{}) {
	<-l.gone
	time.Sleep(lastTokens)
	close(late)
	l.sending.Lock()
	defer l.sending.Unlock()
	close(l.tokens)
}

func (t token) settle(nowNs int64, qos byte) {
	err := errUnanswered
	select {
	case <-t.Done():
		err = t.Error()
	default:
	}
	switch {
	case err == nil && qos == 0:
		t.done(t.m, 0, nil)
	case err == nil:
		t.done(t.m, nowNs, nil)
	case errors.Is(err, paho.ErrNotConnected):
		t.done(t.m, 0, errNotConnected)
	default:
		t.done(t.m, 0, errUnanswered)
	}
}

func wait(ctx context.Context, t paho.Token) error {
	select {
	case <-t.Done():
		return t.Error()
	case <-ctx.Done():
		return ctx.Err()
	}
}
