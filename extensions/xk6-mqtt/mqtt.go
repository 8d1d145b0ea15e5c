// Package mqtt is the driver for servers that speak MQTT 5 or 3.1.1.
package mqtt

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	own := defaults
	err := o.Decode(&own)
	at, security, ofURL := address.ParseSecure(o.URL, own.TLS, address.Scheme{Name: "mqtt", Port: "1883"}, address.Scheme{Name: "mqtts", Port: "8883"})
	return &session{
		Base: broker.NewBase("mqtt", o), own: own, at: at, security: security, name: "mqbench-" + rand.Text()[:10],
	}, broker.Wrap("mqtt", cmp.Or(err, ofURL))
}

type session struct {
	*broker.Base
	broker.DropsNothing // both libraries wait for the handler
	own                 options
	at                  address.Address
	security            *tls.Config
	// name begins the client ids.
	name      string
	server    string
	producers []*client
	// names of the topics of Prepare, as MQTT writes them.
	names     []string
	consumers broker.List[*client]
	clients   atomic.Int64
}

var _ broker.Remover = (*session)(nil)

func (s *session) Open(ctx context.Context) error {
	for i := range s.Connections {
		c := s.client("", nil)
		if err := c.Open(ctx, s.Base, c.link); err != nil {
			return fmt.Errorf("mqtt: %w", broker.Nth(i, s.Connections, err))
		}
		c.slots = make(chan struct{}, s.own.ReceiveMaximum)
		c.unanswered = broker.NewUnanswered(s.Base, func(answer func() error) error {
			defer func() { <-c.slots }()
			return answer()
		})
		s.producers = append(s.producers, c)
	}
	s.server = s.askServer(ctx)
	return broker.Wrap("mqtt", s.try(ctx, ""))
}

// Prepare has nothing to make: a topic exists by being used, and keeps nothing.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	for _, t := range layout.Topics {
		name := s.address(t.Name)
		if strings.ContainsAny(name, "+#") || strings.HasPrefix(name, "$") {
			return fmt.Errorf("mqtt: topic %q cannot be published to: + and # stand for levels, and $ begins topics of the server's own", t.Name)
		}
		s.names = append(s.names, name)
	}
	if slices.ContainsFunc(layout.Subscriptions, func(to broker.Subscription) bool { return to.Group != "" }) {
		return broker.Wrap("mqtt", s.try(ctx, "$share/mqbench/"))
	}
	return nil
}

func (s *session) Producer(connection int) (broker.Producer, error) {
	return s.producers[connection], nil
}

// Consume makes a client for each subscription, which is usual in MQTT: a slow one holds up no other.
func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	filter := s.address(to.Topic)
	if to.Wildcard {
		filter = strings.ReplaceAll(filter, "*", "+")
	}
	if to.Group != "" {
		filter = "$share/" + strings.NewReplacer("/", "-", "+", "-", "#", "-").Replace(s.Named("-", to.Group)) + "/" + filter
	}
	c := s.client(filter, func(payload []byte, again bool) {
		handle(broker.Delivery{ReceivedNs: s.Now(), Payload: payload, Redelivered: again})
	})
	c.persistent = s.own.Session == sessionPersistent
	if err := c.Open(ctx, s.Base, c.link); err != nil {
		return fmt.Errorf("mqtt: %w", err)
	}
	s.consumers.Add(c)
	return nil
}

// Remove ends the sessions that the server keeps for consumers.
func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	return broker.Wrap("mqtt: end sessions", deadline.Each(ctx, s.consumers.All(), func(ctx context.Context, c *client) error { return c.forget(ctx) }))
}

func (s *session) Describe() broker.Description {
	library := map[string]string{version5: "paho.golang", version3: "paho.mqtt.golang"}[s.own.Protocol]
	return broker.Description{
		Acks: s.own.QoS > 0, Order: "per-producer", Wildcards: true, Server: s.server, Settings: s.settings(),
		Library: library + " " + broker.LibraryVersion("github.com/eclipse/"+library),
	}
}

// Close ends the session, and with it each link (client.link).
func (s *session) Close() error {
	s.End()
	return nil
}

// Versions of the protocol, each with a separate library.
const (
	version5 = "5"
	version3 = "3.1.1"
)

// sessionPersistent is the session of consumers that is not clean.
const sessionPersistent = "persistent"

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/mqtt/index.ts describes and writes them.
type options struct {
	Protocol       string      `json:"protocol" known:"5 3.1.1"`
	QoS            byte        `json:"qos"`
	Session        string      `json:"session" known:"clean persistent"`
	ReceiveMaximum int         `json:"receiveMaximum"`
	KeepAliveNs    int64       `json:"keepAliveNs"`
	NoDelay        bool        `json:"tcpNoDelay"`
	TLS            address.TLS `json:"tls"`
}

// All other settings are set here, and printed by Describe.
const (
	connectTimeout = 5 * time.Second
	reconnectWait  = 100 * time.Millisecond
	// sessionExpiry is when a persistent session ends that a killed run has left; only MQTT 5 has such a setting.
	sessionExpiry = 5 * time.Minute
	// bufferBytes of a socket; a consumer sends little.
	bufferBytes, ackBytes = 64 * 1024, 512
)

// --- internal ---

func (s *session) settings() map[string]string {
	most := fmt.Sprintf("%d not acknowledged", s.own.ReceiveMaximum)
	sent, prefetch := most+", or fewer if the server says so", most
	var set broker.Settings[struct{}]
	if s.own.Protocol == version3 {
		sent, prefetch = most, "as many as the server chooses: MQTT 3.1.1 has no receive maximum"
		set.Print(map[string]any{
			"writeTimeout": "none", "pingTimeout": max(time.Duration(s.own.KeepAliveNs), time.Second), "orderMatters": true,
			"autoReconnect, connectRetry, resumeSubs": false,
		})
	} else {
		set.Print(map[string]any{
			"packetTimeout": connectTimeout, "topicAlias": "none", "manualAcknowledgement": false,
			"sessionExpiry": map[string]time.Duration{sessionPersistent: sessionExpiry}[s.own.Session],
		})
	}
	if s.own.QoS == 0 {
		sent, prefetch = "no limit: nothing is acknowledged", "none: the server pushes; what is not handled waits in the socket"
		if s.own.Protocol == version5 {
			prefetch = fmt.Sprintf("up to %d in the library, more in the socket: the server pushes", s.own.ReceiveMaximum)
		}
	}
	confirm := []string{"none: QoS 0", "each message, by PUBACK", "each message, by PUBCOMP"}[s.own.QoS]
	acknowledge := []string{confirm, confirm, "each message, by PUBREC and PUBCOMP"}[s.own.QoS]
	set.Print(map[string]any{
		"protocol": s.own.Protocol, "qos": s.own.QoS, "retain": false, "session": s.own.Session, "store": "memory", "inFlight": sent,
		"connections": s.Connections, "consumers": "a client each, with a connection of its own", "groups": "shared subscriptions ($share)",
		"clientIds": "of each run its own", "connectTimeout": connectTimeout,
		"reconnect": "every " + reconnectWait.String() + "; nothing is sent again", "keepAlive": time.Duration(s.own.KeepAliveNs),
		"tcpNoDelay": s.own.NoDelay, "readBufferBytes": bufferBytes, "tls": s.security != nil,
		"confirm": confirm, "flush": "each message, as it is sent", "batching": "none", "compression": "none",
		"acknowledgeAlone": acknowledge, "acknowledgeInGroup": acknowledge, "prefetch": prefetch,
	})
	return set.Printed
}

// address is a topic as MQTT writes it: with slashes between its words. The user's topics stay unchanged.
func (s *session) address(topic string) string {
	if s.Run != "" {
		return topic
	}
	return strings.ReplaceAll(topic, ".", "/")
}

func (s *session) client(filter string, take func([]byte, bool)) *client {
	return &client{
		Link: broker.Link[link]{First: reconnectWait, Wait: reconnectWait},
		s:    s, number: int(s.clients.Add(1)) - 1, filter: filter, take: take,
		patience: connectTimeout, readBytes: bufferBytes,
	}
}
