package mqtt

import (
	"context"
	"errors"
	"net"
	"net/url"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

type link3 struct {
	*ending
	qos     byte
	library paho.Client
}

// takeTimeout is how long the library's Publish waits for a writer that a lost connection has ended. A write has no timeout (client.go).
const takeTimeout = 200 * time.Millisecond

func dial3(ctx context.Context, c *client, host string) (link, error) {
	socket, err := c.dialWire(ctx, host, 0)
	if err != nil {
		return nil, err
	}
	l := &link3{ending: c.s.ending(socket), qos: c.s.own.QoS}
	if c.kept == nil || !c.persistent {
		c.kept = paho.NewMemoryStore()
	}
	keepAlive := time.Duration(c.s.own.KeepAliveNs)
	l.library = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + host).SetClientID(c.id()).SetProtocolVersion(4).
		SetCleanSession(!c.persistent).SetUsername(c.s.at.User).SetPassword(c.s.at.Password).
		SetKeepAlive(keepAlive).SetPingTimeout(max(keepAlive, time.Second)).SetWriteTimeout(takeTimeout).SetConnectTimeout(c.patience).
		SetAutoReconnect(false).SetConnectRetry(false).SetResumeSubs(false).SetOrderMatters(true).SetStore(c.kept.(paho.Store)).
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return socket, nil }).
		SetConnectionLostHandler(func(_ paho.Client, err error) { l.end(err) }).
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) {
			if c.take != nil {
				c.take(m.Payload(), m.Duplicate())
			}
		}))
	if err := wait(ctx, l.library.Connect()); err != nil {
		l.end(err)
		return nil, err
	}
	return l, nil
}

func (l *link3) publish(topic string, payload []byte) (answer func() error, err error) {
	var t paho.Token
	for t == nil || notTaken(t) {
		if l.Err() != nil {
			return nil, errNotConnected
		}
		t = l.library.Publish(topic, l.qos, false, payload)
	}
	return func() error {
		select {
		case <-t.Done():
		case <-l.late: // the library forgets some
			return errUnanswered
		}
		if err := t.Error(); err != nil && !errors.Is(err, paho.ErrNotConnected) {
			return errUnanswered
		} else if err != nil {
			return errNotConnected
		}
		return nil
	}, nil
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
	t := l.library.Subscribe(filter, l.qos, nil)
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

func (l *link3) part() {
	l.library.Disconnect(uint(takeTimeout / time.Millisecond))
	l.end(errClosed)
}

// --- internal ---

func wait(ctx context.Context, t paho.Token) error {
	select {
	case <-t.Done():
		return t.Error()
	case <-ctx.Done():
		return ctx.Err()
	}
}
