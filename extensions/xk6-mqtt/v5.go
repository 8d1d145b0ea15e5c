package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"github.com/eclipse/paho.golang/paho/session/state"
)

// link5 is a connection of paho.golang, whose Publish waits for the acknowledgement: messages go through its session and its packets.
type link5 struct {
	*state.State
	*ending
	s       *session
	library *paho.Client
	socket  *wire
}

func dial5(ctx context.Context, c *client, host string) (link, error) {
	packetBytes := bufferBytes
	if c.take != nil {
		packetBytes = ackBytes
	}
	socket, err := c.dialWire(ctx, host, packetBytes)
	if err != nil {
		return nil, err
	}
	if c.kept == nil || !c.persistent {
		c.kept = state.NewInMemory()
	}
	l := &link5{State: c.kept.(*state.State), ending: c.s.ending(socket), s: c.s, socket: socket}
	most, expiry := uint16(c.s.own.ReceiveMaximum), uint32(0)
	if c.persistent {
		expiry = uint32(sessionExpiry / time.Second)
	}
	l.library = paho.NewClient(paho.ClientConfig{
		Conn: socket, Session: l.State, PacketTimeout: c.patience,
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(r paho.PublishReceived) (bool, error) {
			if c.take != nil {
				c.take(r.Packet.Payload, r.Packet.Duplicate())
			}
			return true, nil
		}},
		OnClientError:      l.end,
		OnServerDisconnect: func(d *paho.Disconnect) { l.end(refusal(d.ReasonCode)) },
	})
	at := c.s.at
	answer, err := l.library.Connect(ctx, &paho.Connect{
		ClientID: c.id(), CleanStart: !c.persistent, KeepAlive: uint16(c.s.own.KeepAliveNs / int64(time.Second)),
		Username: at.User, UsernameFlag: at.User != "", Password: []byte(at.Password), PasswordFlag: at.Password != "",
		Properties: &paho.ConnectProperties{ReceiveMaximum: &most, SessionExpiryInterval: &expiry, RequestProblemInfo: true},
	})
	switch {
	case err != nil && answer != nil:
		err = refusal(answer.ReasonCode)
	case errors.Is(err, io.EOF):
		err = errors.New("the server ends the connection instead of an answer; if it speaks MQTT 3.1.1 alone, set protocol: 3.1.1")
	}
	if err != nil {
		l.end(err)
		return nil, err
	}
	return l, nil
}

func (l *link5) part() {
	_ = l.library.Disconnect(&paho.Disconnect{}) // an error means that nobody is there to read it
	l.end(errClosed)
}

func refusal(code byte) error {
	words, _, _ := strings.Cut((&packets.Connack{ReasonCode: code}).Reason(), " - ")
	return fmt.Errorf("%s (reason code %d)", strings.ToLower(cmp.Or(words, "refused")), code)
}

func (l *link5) publish(topic string, payload []byte) (answer func() error, err error) {
	p := &packets.Publish{Topic: topic, QoS: l.s.own.QoS, Payload: payload, Properties: &packets.Properties{}}
	answers := make(chan packets.ControlPacket, 1)
	if l.Err() != nil || p.QoS > 0 && l.AddToSession(l.s.Over, p, answers) != nil { // blocks while the server's maximum number is in flight
		return nil, errNotConnected
	}
	_, _ = p.WriteTo(l.socket) // an error ends the connection
	if p.QoS == 0 {
		if l.socket.failed() {
			return nil, errUnanswered
		}
		return nil, nil
	}
	return func() error {
		select {
		case p := <-answers:
			return judge(p.Content)
		case <-l.late:
			return errUnanswered
		}
	}, nil
}

// judge interprets an answer; nil if the connection is lost.
func judge(answer packets.Packet) error {
	var code byte
	switch p := answer.(type) {
	case nil:
		return errUnanswered
	case *packets.Puback:
		code = p.ReasonCode
	case *packets.Pubrec: // a refusal, which PUBCOMP does not follow
		code = p.ReasonCode
	case *packets.Pubcomp:
		code = p.ReasonCode
	}
	if code >= 0x80 {
		return fmt.Errorf("mqtt: the server refuses the message: %w", refusal(code))
	}
	return nil
}

func (l *link5) subscribe(ctx context.Context, filter string) (byte, error) {
	answer, err := l.library.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: filter, QoS: l.s.own.QoS}}})
	switch {
	case answer == nil || len(answer.Reasons) != 1:
		return 0, cmp.Or(err, errUnanswered)
	case answer.Reasons[0] >= 0x80:
		return 0, refusal(answer.Reasons[0])
	}
	return answer.Reasons[0], nil
}
