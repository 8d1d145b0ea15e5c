// Package nsq is the driver for NSQ: each topic is on every nsqd, a group is a channel that its members share, and a subscription without
// one a channel of its own.
package nsq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nsqio/go-nsq"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	closeTimeout = time.Second
	defaultPort  = "4150"
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	own := defaults
	own.MsgTimeoutNs = 0
	if err := o.Decode(&own); err != nil {
		return nil, fmt.Errorf("nsq: %w", err)
	}
	if o.Replicas > 1 {
		return nil, errors.New("nsq: a message is on one nsqd; there are no replicas")
	}
	text, query, _ := strings.Cut(o.URL, "?")
	at, err := address.Parse(text, defaultPort, "nsq")
	if err != nil {
		return nil, fmt.Errorf("nsq: %w", err)
	}
	https, err := httpPorts(at.Hosts, query)
	if err != nil {
		return nil, fmt.Errorf("nsq: %w", err)
	}
	security, err := own.TLS.Config()
	if err != nil {
		return nil, fmt.Errorf("nsq: %w", err)
	}
	return &session{
		Base: broker.NewBase("nsq", o), own: own, servers: at.Hosts, https: https, secret: at.Password, security: security,
		http: &http.Client{Timeout: httpTimeout}, client: "mqbench-" + strconv.FormatInt(time.Now().UnixNano(), 36),
	}, nil
}

type session struct {
	*broker.Base
	own     options
	servers []string
	// https are the servers' HTTP ports, in the same order.
	https    []string
	secret   string
	security *tls.Config
	http     *http.Client
	// client is our name on the server.
	client  string
	version string
	links   []*link
	topics  []broker.Topic

	consumers broker.List[*consumer]
	// numbers of consumers.
	numbers atomic.Int64
}

var (
	_ broker.Session  = (*session)(nil)
	_ broker.Remover  = (*session)(nil)
	_ broker.Dropper  = (*session)(nil)
	_ broker.Holder   = (*session)(nil)
	_ broker.Producer = (*link)(nil)
)

func (s *session) Open(ctx context.Context) error {
	for _, server := range s.servers {
		if err := s.greet(ctx, server); err != nil {
			return fmt.Errorf("nsq: connect: %w", address.Cause(err))
		}
	}
	for i := range s.Connections {
		l, err := s.connect(i)
		if err != nil {
			return fmt.Errorf("nsq: connect: %w", broker.Nth(i, s.Connections, address.Cause(err)))
		}
		s.links = append(s.links, l)
	}
	for server := range s.servers {
		var info struct {
			Version string `json:"version"`
		}
		if _, err := s.ask(ctx, server, http.MethodGet, "/info", nil, &info); err != nil {
			return fmt.Errorf("nsq: %w", err)
		}
		s.version = info.Version
	}
	return nil
}

func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	s.topics = layout.Topics
	return deadline.Each(ctx, layout.Names(), func(ctx context.Context, name string) error {
		if !nsq.IsValidTopicName(name) {
			return fmt.Errorf("nsq: %q is no name of a topic: nsqd takes 64 letters, digits, dots, dashes and underscores at most", name)
		}
		if s.Client > 0 {
			return nil
		}
		query := url.Values{"topic": {name}}
		if s.Run == "" {
			err := s.everywhere(ctx, "/topic/delete", query)
			if err == nil {
				err = s.everywhere(ctx, "/topic/create", query)
			}
			return broker.Wrap(fmt.Sprintf("nsq: make topic %q", name), err)
		}
		known, err := s.knows(ctx, name)
		if err == nil && !known {
			err = broker.MissingTopic(name, "no nsqd has it")
		}
		return broker.Wrap("nsq", err)
	})
}

func (s *session) Producer(connection int) (broker.Producer, error) { return s.links[connection], nil }

// Consume makes the channel first, past the connection: from its answer on the channel gets every message, while nobody hears when the
// server has taken a subscription.
func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	c, err := s.newConsumer(to, handle)
	if err == nil {
		s.consumers.Add(c)
		err = s.everywhere(ctx, "/channel/create", url.Values{"topic": {to.Topic}, "channel": {c.channel}})
	}
	if err == nil {
		err = deadline.While(ctx, c.start)
	}
	return broker.Wrap(fmt.Sprintf("nsq: subscribe to %q", to.Topic), err)
}

// Remove deletes the topics that Prepare has made, or the channels of ours on the user's own.
func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	all := s.consumers.All()
	for _, one := range all {
		one.stop()
	}
	// A consumer that is still connected would make what is removed again.
	deadline.AtMost(closeTimeout, deadline.Steps(all, func(c *consumer) { <-c.library.StopChan })...)
	var failed error
	for _, topic := range s.topics {
		if !s.Found() {
			failed = errors.Join(failed, s.everywhere(ctx, "/topic/delete", url.Values{"topic": {topic.Name}}))
			continue
		}
		for _, channel := range s.channelsOn(topic.Name) {
			failed = errors.Join(failed, s.everywhere(ctx, "/channel/delete", url.Values{"topic": {topic.Name}, "channel": {channel}}))
		}
	}
	return broker.Wrap("nsq: remove topics and channels", failed)
}

// Held is what consumers have got and not handled.
func (s *session) Held() (held int64, known bool) {
	for _, one := range s.consumers.All() {
		held += int64(len(one.queue))
	}
	return held, true
}

// Dropped is always 0: the library throws away only what it has tried too often, and its limit is off.
func (s *session) Dropped() int64 { return 0 }

func (s *session) Describe() broker.Description {
	_, set := s.config()
	set.Print(map[string]any{
		"connections": s.Connections, "servers": len(s.servers), "tls": s.security != nil,
		"publish":            "each connection to one server, in turn; consumers are connected to all",
		"confirm":            "each message",
		"flush":              "each message, as the library does",
		"batching":           "none",
		"compression":        "none",
		"acknowledgeAlone":   "each message: a channel waits for it",
		"acknowledgeInGroup": "each message",
		"prefetch":           fmt.Sprintf("%d not acknowledged (RDY), of all servers together", s.own.Prefetch),
	})
	d := broker.Description{
		Acks: true, Order: "none", Stores: true, RedeliversAfter: s.msgTimeout(), Settings: set.Printed, Library: "go-nsq v" + nsq.VERSION,
	}
	if s.version != "" {
		d.Server = "nsqd " + s.version
	}
	return d
}

func (s *session) Close() error {
	if !s.End() {
		return nil
	}
	deadline.AtMost(closeTimeout, slices.Concat(deadline.Steps(s.consumers.All(), (*consumer).stop), deadline.Steps(s.links, (*link).close))...)
	s.http.CloseIdleConnections()
	return nil
}

// --- internal ---

// channelName is the same for all members of a group. A subscription without a group has one of its own.
func (s *session) channelName(group string, number int64) string {
	if group == "" {
		group = fmt.Sprintf("%d-%d", s.Client, number)
	}
	return strings.ReplaceAll(s.Named("-", group), ":", "-")
}

// channelsOn are those that this session removes: its own and, for client 0, those of the run's groups, which may have members on other
// clients only.
func (s *session) channelsOn(topic string) (channels []string) {
	for _, one := range s.consumers.All() {
		ours := one.group == "" && one.topic == topic || one.group != "" && s.Client == 0
		if ours && !slices.Contains(channels, one.channel) {
			channels = append(channels, one.channel)
		}
	}
	return channels
}

// httpPorts are what ?http= says, or the ports above those of the servers, as nsqd has them by default.
func httpPorts(servers []string, query string) ([]string, error) {
	if query != "" {
		written, is := strings.CutPrefix(query, "http=")
		list := strings.Split(written, ",")
		if !is || len(list) != len(servers) {
			return nil, errors.New("the URL may have ?http=host:port behind it, one for each server, and nothing else")
		}
		return list, nil
	}
	var list []string
	for _, one := range servers {
		host, port, err := net.SplitHostPort(one)
		if err != nil {
			return nil, err
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			return nil, fmt.Errorf("the URL's port %q is no number", port)
		}
		list = append(list, net.JoinHostPort(host, strconv.Itoa(number+1)))
	}
	return list, nil
}
