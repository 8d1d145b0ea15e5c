package brokerless

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	loopback     = "127.0.0.1"
	closeTimeout = time.Second
	// replySuffix is the end of the name of a topic for replies, after its requests' topic (replyTopics of runner/plan/expand.ts).
	replySuffix = ".reply"
)

// Session implements broker.Session over a library's sockets. Without a URL each subscription listens, and senders connect when they first send to it.
type Session struct {
	*broker.Base
	name     string
	own      Options
	library  Library
	settings map[string]string
	folder   string
	// forwarder at server; nil if there is none.
	forwarder *broker.Link[*wire]
	server    string
	// receivers are the subscriptions, here and on other clients, that senders can reach.
	receivers broker.List[broker.Endpoint]
	senders   broker.List[*sender]

	mu      sync.Mutex
	version string
	ins     []*in
	// replies are the handlers of topics of replies, whichever connection brings them.
	replies map[string]broker.Handler
}

type in struct {
	broker.Endpoint
	socket In
	// request is the request that its responder handles at the moment, and has not replied to.
	request Message
}

var (
	_ broker.Peer = (*Session)(nil)

	errClosed = errors.New("send: the session is closed")
)

// New makes the session of a driver; its errors begin with the name, which is also the scheme of a forwarder's URL.
func New(name string, o broker.Options, own Options, library Library, settings map[string]string) (*Session, error) {
	s := &Session{Base: broker.NewBase(name, o), name: name, own: own, library: library, settings: settings, replies: map[string]broker.Handler{}}
	switch at, err := address.Parse(o.URL, "5555", name); {
	case o.Run != "":
		return nil, fmt.Errorf("%s: a topic exists only while it is used; drop create: false", name)
	case o.Clients > 1 && own.Transport == "ipc":
		return nil, fmt.Errorf("%s: clients may be on different machines, and transport ipc is of one; write transport: tcp", name)
	case o.URL == "":
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(at.Hosts) > 1:
		return nil, fmt.Errorf("%s: there is one forwarder, and the URL has %d", name, len(at.Hosts))
	default:
		s.server, s.forwarder = at.Hosts[0], &broker.Link[*wire]{First: reconnectWait, Wait: reconnectWait}
	}
	return s, nil
}

// Open connects to the forwarder, if there is one.
func (s *Session) Open(ctx context.Context) error {
	if s.own.Transport == "ipc" {
		var err error
		if s.folder, err = os.MkdirTemp("", "mqbench-"); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if s.forwarder == nil {
		return nil
	}
	return broker.Wrap(s.name+": connect to the forwarder", s.forwarder.Open(ctx, s.Base, s.dial))
}

// Prepare has nothing to make: a topic exists by being used.
func (s *Session) Prepare(_ context.Context, layout broker.Layout) error {
	for _, to := range layout.Subscriptions {
		if err := s.own.Mode.fits(to); err != nil {
			return fmt.Errorf("%s: subscribe to %q: %w", s.name, to.Topic, err)
		}
	}
	if s.own.Mode == PushPull {
		return broker.Wrap(s.name, layout.Rivals())
	}
	return nil
}

func (s *Session) Producer(int) (broker.Producer, error) {
	p := &sender{session: s, outs: map[string]Out{}}
	s.senders.Add(p)
	return p, nil
}

func (s *Session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) (err error) {
	if s.own.Mode == ReqRep && to.Group == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		var one sync.Mutex
		s.replies[to.Topic] = func(d broker.Delivery) {
			one.Lock()
			defer one.Unlock()
			handle(d)
		}
		return nil
	}
	one := &in{Endpoint: broker.Endpoint{Topic: to.Topic, Wildcard: to.Wildcard, Group: to.Group}}
	one.socket, err = s.library.Listen(s.own.Mode, prefixOf(one.Endpoint), s.place(), func(m Message) { s.take(one, m, handle) })
	if err == nil {
		one.Address = one.socket.Address()
		s.mu.Lock()
		s.ins = append(s.ins, one)
		s.mu.Unlock()
		s.receivers.Add(one.Endpoint)
	}
	if err == nil && s.forwarder != nil {
		_, err = s.ask(ctx, "Subscribe", one.Endpoint)
	}
	return broker.Wrap(fmt.Sprintf("%s: subscribe to %q", s.name, to.Topic), err)
}

// Endpoints are where this session's subscriptions listen; empty with a forwarder, which connects to them.
func (s *Session) Endpoints() (all []broker.Endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forwarder != nil {
		return nil
	}
	for _, one := range s.ins {
		all = append(all, one.Endpoint)
	}
	return all
}

func (s *Session) Meet(_ context.Context, others []broker.Endpoint) error {
	for _, one := range others {
		s.receivers.Add(one)
	}
	return nil
}

func (s *Session) Describe() broker.Description {
	settings := maps.Clone(s.settings)
	maps.Copy(settings, map[string]string{
		"mode": string(s.own.Mode), "transport": s.own.Transport,
		"connections": "a socket for each sender and topic, connected to each subscription of it when it first sends there",
		"confirm":     "none", "batching": "none", "compression": "none",
		"acknowledgeAlone": "never", "acknowledgeInGroup": "never",
	})
	server := s.library.Version() + ", without a server"
	if s.forwarder != nil {
		s.mu.Lock()
		server = s.version
		s.mu.Unlock()
	}
	return broker.Description{
		Order: "per-producer", Wildcards: s.own.Mode == PubSub, Library: s.library.Version(), Server: server, Settings: settings,
	}
}

func (s *Session) Close() error {
	s.End()
	s.mu.Lock()
	ins := deadline.Steps(s.ins, func(one *in) { _ = one.socket.Close() })
	s.mu.Unlock()
	deadline.AtMost(closeTimeout, slices.Concat(ins, deadline.Steps(s.senders.All(), (*sender).close))...)
	return os.RemoveAll(s.folder) // "" removes nothing
}

// --- internal ---

func (s *Session) place() string {
	if s.own.Transport == "ipc" {
		return "ipc://" + filepath.ToSlash(filepath.Join(s.folder, rand.Text()[:8]))
	}
	return "tcp://" + net.JoinHostPort(cmp.Or(s.Listen, loopback), "0")
}

// take hands a message over, unless its topic only begins like the subscription's.
func (s *Session) take(one *in, m Message, handle broker.Handler) {
	at := s.Now()
	if s.own.Mode == PubSub && !covers(one.Endpoint, m.Topic) {
		return
	}
	if s.own.Mode == ReqRep {
		s.asks(one, m)
		defer s.asks(one, Message{})
	}
	handle(broker.Delivery{ReceivedNs: at, Payload: m.Payload})
}

func (s *Session) asks(one *in, m Message) {
	s.mu.Lock()
	one.request = m
	s.mu.Unlock()
}

// reply is called within the handler of a responder, which has one request at a time and sends it back. Several members of one topic may be
// here; the right one handles this very message.
func (s *Session) reply(m *broker.Message) error {
	topic := strings.TrimSuffix(m.Name, replySuffix)
	s.mu.Lock()
	for _, one := range s.ins {
		if path := one.request.Path; one.Topic == topic && path != nil && bytes.Equal(one.request.Payload, m.Payload) {
			one.request.Path = nil
			s.mu.Unlock()
			return one.socket.Reply(Message{Path: path, Payload: m.Payload})
		}
	}
	s.mu.Unlock()
	return errors.New("a reply to no request")
}

func (s *Session) replied(topic string, m Message) {
	at := s.Now()
	s.mu.Lock()
	handle := s.replies[topic+replySuffix]
	s.mu.Unlock()
	if handle != nil {
		handle(broker.Delivery{ReceivedNs: at, Payload: m.Payload})
	}
}

// targets are where messages of a topic go: the forwarder's entrance, or the subscriptions that cover it.
func (s *Session) targets(ctx context.Context, topic string) (to []broker.Endpoint, err error) {
	if s.forwarder != nil {
		at, err := s.ask(ctx, "Entrance", topic)
		if s.own.Mode == PubSub {
			topic = "" // one entrance for all
		}
		return []broker.Endpoint{{Topic: topic, Address: at}}, err
	}
	for _, e := range s.receivers.All() {
		if covers(e, topic) {
			to = append(to, e)
		}
	}
	return to, nil
}

func covers(e broker.Endpoint, topic string) bool {
	return e.Topic == topic || e.Wildcard && broker.Matches(e.Topic, topic)
}

// prefixOf is the common beginning of the subscription's topics.
func prefixOf(e broker.Endpoint) string {
	prefix, _, _ := strings.Cut(e.Topic, "*")
	return prefix
}
