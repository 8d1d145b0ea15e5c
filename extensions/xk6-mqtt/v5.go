package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"github.com/eclipse/paho.golang/paho/session/state"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// link5 is a connection of paho.golang. That library's Publish waits for the acknowledgement, so messages go through its session and its
// packets, and the session's hooks see what is acknowledged.
type link5 struct {
	*state.State
	ending
	s       *session
	library *paho.Client
	socket  *wire

	mu      sync.Mutex
	pending map[uint16]sent
}

type sent struct {
	m    *broker.Message
	done broker.Done
}

func dial5(ctx context.Context, c *client, host string) (link, error) {
	socket, err := c.s.dialWire(ctx, host)
	if err != nil {
		return nil, err
	}
	l := &link5{State: state.NewInMemory(), ending: ending{gone: make(chan struct{}), wire: socket}, s: c.s, socket: socket, pending: map[uint16]sent{}}
	most, expiry := uint16(c.s.own.ReceiveMaximum), uint32(0)
	if c.persistent {
		expiry = uint32(sessionExpiry / time.Second)
		if remembered, ok := c.kept.(*state.State); ok {
			l.State = remembered
		}
		c.kept = l.State
	}
	l.library = paho.NewClient(paho.ClientConfig{
		Conn: socket, Session: l, PacketTimeout: connectTimeout,
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(r paho.PublishReceived) (bool, error) {
			if c.take != nil {
				c.take(r.Packet.Payload, r.Packet.Duplicate())
			}
			return true, nil
		}},
		OnClientError:      l.over,
		OnServerDisconnect: func(d *paho.Disconnect) { l.over(refusal(d.ReasonCode)) },
	})
	at := c.s.at
	answer, err := l.library.Connect(ctx, &paho.Connect{
		ClientID: c.id(), CleanStart: !c.persistent, KeepAlive: uint16(c.s.own.keepAliveSeconds()),
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
		_ = socket.Close()
		return nil, err
	}
	if p := answer.Properties; p != nil && p.MaximumPacketSize != nil {
		l.most = *p.MaximumPacketSize
	}
	go l.abandon()
	return l, nil
}

// refusal is a server's reason code in words.
func refusal(code byte) error {
	words, _, _ := strings.Cut((&packets.Connack{ReasonCode: code}).Reason(), " - ")
	return fmt.Errorf("%s (reason code %d)", strings.ToLower(cmp.Or(words, "refused")), code)
}

func (l *link5) publish(m *broker.Message, topic string, done broker.Done) {
	if l.isOver() {
		done(m, 0, errNotConnected)
		return
	}
	p := &packets.Publish{Topic: topic, QoS: l.s.own.QoS, Payload: m.Payload, Properties: &packets.Properties{}}
	if p.QoS > 0 {
		// Blocks while as many are on their way as the server takes.
		if err := l.AddToSession(l.s.Over, p, make(chan packets.ControlPacket, 1)); err != nil {
			done(m, 0, errNotConnected)
			return
		}
		l.mu.Lock()
		open := l.pending != nil
		if open {
			l.pending[p.PacketID] = sent{m, done}
		}
		l.mu.Unlock()
		if !open {
			done(m, 0, errNotConnected)
			return
		}
	}
	_, _ = p.WriteTo(l.socket) // an error ends the connection, which completes what is pending
	if p.QoS > 0 {
		return
	}
	if l.socket.failed() {
		done(m, 0, errUnanswered)
		return
	}
	done(m, 0, nil)
}

// ConAckReceived lowers the number of messages that may be on their way to that of the option.
func (l *link5) ConAckReceived(to io.Writer, asked *packets.Connect, answer *packets.Connack) error {
	if answer.Properties == nil {
		answer.Properties = &packets.Properties{}
	}
	most := uint16(l.s.own.ReceiveMaximum)
	if p := answer.Properties; p.ReceiveMaximum == nil || *p.ReceiveMaximum > most {
		p.ReceiveMaximum = &most
	}
	return l.State.ConAckReceived(to, asked, answer)
}

// PacketReceived sees acknowledgements before the session does.
func (l *link5) PacketReceived(packet *packets.ControlPacket, to chan<- *packets.Publish) error {
	nowNs := l.s.Now()
	var id uint16
	var code byte
	switch p := packet.Content.(type) {
	case *packets.Puback:
		id, code = p.PacketID, p.ReasonCode
	case *packets.Pubcomp:
		id, code = p.PacketID, p.ReasonCode
	case *packets.Pubrec:
		if p.ReasonCode >= 0x80 { // PUBCOMP does not follow
			id, code = p.PacketID, p.ReasonCode
		}
	}
	var one sent
	if id != 0 {
		l.mu.Lock()
		one = l.pending[id]
		delete(l.pending, id)
		l.mu.Unlock()
	}
	err := l.State.PacketReceived(packet, to)
	switch {
	case one.m == nil:
	case code >= 0x80:
		one.done(one.m, 0, fmt.Errorf("mqtt: the server refuses the message: %w", refusal(code)))
	default:
		one.done(one.m, nowNs, nil)
	}
	return err
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

// --- internal ---

// abandon completes what is not acknowledged when the connection is over.
func (l *link5) abandon() {
	<-l.gone
	l.mu.Lock()
	open := l.pending
	l.pending = nil
	l.mu.Unlock()
	for _, one := range open {
		one.done(one.m, 0, errUnanswered)
	}
}
