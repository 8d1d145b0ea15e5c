// Package nsq is the driver for NSQ: each topic is on every nsqd, a group is a channel, and a subscription without one has its own channel.
package nsq

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	s := &session{Base: broker.NewBase("nsq", o), own: defaults, client: "mqbench-" + strconv.FormatInt(time.Now().UnixNano(), 36)}
	s.own.MsgTimeoutNs = 0
	return s, broker.Wrap("nsq", s.read())
}

type session struct {
	*broker.Base
	broker.DropsNothing // it would throw away messages after too many tries, so the limit is off
	own                 options
	servers             []string
	// https are the servers' HTTP ports, in the same order.
	https    []string
	secret   string
	security *tls.Config
	// client is our name on the server.
	client    string
	version   string
	links     []*link
	layout    broker.Layout
	consumers broker.List[*consumer]
	// channels is how many of our channels were named.
	channels atomic.Int64
}

var (
	_ broker.Remover = (*session)(nil)
	_ broker.Holder  = (*session)(nil)
)

func (s *session) Open(ctx context.Context) error {
	for _, server := range s.servers {
		if err := s.greet(ctx, server); err != nil {
			return fmt.Errorf("nsq: connect: %w", address.Cause(err))
		}
	}
	for i := range s.Connections {
		l := &link{Link: broker.Link[*wire]{Wait: reconnectWait}, session: s, server: s.servers[i%len(s.servers)]}
		if err := l.Open(ctx, s.Base, l.connect); err != nil {
			return fmt.Errorf("nsq: connect: %w", broker.Nth(i, s.Connections, address.Cause(err)))
		}
		s.links = append(s.links, l)
	}
	said, err := s.stats(ctx, "")
	s.version = said.Version
	return broker.Wrap("nsq", err)
}

func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	s.layout = layout
	return deadline.Each(ctx, layout.Names(), func(ctx context.Context, name string) error {
		if !nsq.IsValidTopicName(name) {
			return fmt.Errorf("nsq: %q is no name of a topic: nsqd takes 64 letters, digits, dots, dashes and underscores at most", name)
		}
		if s.Client > 0 {
			return nil
		}
		if s.Run == "" {
			err := s.everywhere(ctx, "/topic/delete", name, "")
			if err == nil {
				err = s.everywhere(ctx, "/topic/create", name, "")
			}
			return broker.Wrap(fmt.Sprintf("nsq: make topic %q", name), err)
		}
		said, err := s.stats(ctx, name)
		if err == nil && len(said.Topics) == 0 {
			err = broker.MissingTopic(name, "no nsqd has it")
		}
		return broker.Wrap("nsq", err)
	})
}

func (s *session) Producer(connection int) (broker.Producer, error) { return s.links[connection], nil }

// Consume makes the channel first, past the connection: there is no notice when the server has taken a subscription, and a channel gets every message.
func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	c := &consumer{
		Subscription: to, session: s, channel: s.channelName(to.Group), handle: handle, life: s.Lifeline(), queue: make(chan taken, s.own.Prefetch),
	}
	config, _ := s.config()
	var err error
	if c.library, err = nsq.NewConsumer(c.Topic, c.channel, config); err == nil {
		c.library.SetLogger(c, nsq.LogLevelWarning)
		c.library.AddHandler(c)
		s.consumers.Add(c)
		go c.work()
		err = s.everywhere(ctx, "/channel/create", to.Topic, c.channel)
	}
	if err == nil {
		err = deadline.While(ctx, func() error { return c.library.ConnectToNSQDs(s.servers) })
	}
	return broker.Wrap(fmt.Sprintf("nsq: subscribe to %q", to.Topic), err)
}

// Remove deletes the topics that Prepare has made, or our channels on the user's topics. Client 0 deletes the channels of groups.
func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	all := s.consumers.All()
	for _, one := range all {
		one.stop()
	}
	// A consumer that is still connected would make the removed objects again.
	deadline.AtMost(closeTimeout, deadline.Steps(all, func(c *consumer) { <-c.library.StopChan })...)
	var failed error
	remove := func(path, topic, channel string) {
		failed = errors.Join(failed, s.everywhere(ctx, path, topic, channel))
	}
	if !s.Found() {
		for _, topic := range s.layout.Names() {
			remove("/topic/delete", topic, "")
		}
		return broker.Wrap("nsq: remove topics", failed)
	}
	for _, one := range all {
		if one.Group == "" {
			remove("/channel/delete", one.Topic, one.channel)
		}
	}
	for _, to := range s.layout.Subscriptions {
		if to.Group != "" && s.Client == 0 {
			remove("/channel/delete", to.Topic, s.channelName(to.Group))
		}
	}
	return broker.Wrap("nsq: remove channels", failed)
}

// Held is how many messages consumers have got and not handled.
func (s *session) Held() (held int64, known bool) {
	for _, one := range s.consumers.All() {
		held += int64(len(one.queue))
	}
	return held, true
}

func (s *session) Describe() broker.Description {
	_, set := s.config()
	set.Print(map[string]any{
		"connections": s.Connections, "servers": len(s.servers), "tls": s.security != nil,
		"publish": "each connection to one server, in turn; consumers are connected to all",
		"confirm": "each message", "flush": "each message, as the library does", "batching": "none", "compression": "none",
		"acknowledgeAlone": "each message: a channel waits for it", "acknowledgeInGroup": "each message",
		"prefetch": fmt.Sprintf("%d not acknowledged (RDY), of all servers together", s.own.Prefetch),
	})
	return broker.Description{
		Acks: true, Order: "none", Stores: true, RedeliversAfter: time.Duration(cmp.Or(s.own.MsgTimeoutNs, defaults.MsgTimeoutNs)),
		Settings: set.Printed, Library: "go-nsq v" + nsq.VERSION, Server: strings.TrimSpace("nsqd " + s.version),
	}
}

func (s *session) Kill() {
	s.Quiet()
	for _, one := range s.consumers.All() {
		one.kill()
	}
}

func (s *session) Close() error {
	if s.End() {
		deadline.AtMost(closeTimeout, slices.Concat(deadline.Steps(s.consumers.All(), (*consumer).stop), deadline.Steps(s.links, (*link).close))...)
	}
	return nil
}

// --- internal ---

// read reads the options and the URL, in which ?http= may name the servers' HTTP ports, if they are not the ones above.
func (s *session) read() (err error) {
	if err := s.Decode(&s.own); err != nil {
		return err
	}
	text, query, _ := strings.Cut(s.URL, "?")
	at, err := address.Parse(text, defaultPort, "nsq")
	if err != nil {
		return err
	}
	s.servers, s.secret = at.Hosts, at.Password
	for _, one := range s.servers {
		host, port, _ := net.SplitHostPort(one)
		number, err := strconv.Atoi(port)
		if err != nil {
			return fmt.Errorf("the URL's port %q is no number", port)
		}
		s.https = append(s.https, net.JoinHostPort(host, strconv.Itoa(number+1)))
	}
	if query != "" {
		written, is := strings.CutPrefix(query, "http=")
		if s.https = strings.Split(written, ","); !is || len(s.https) != len(s.servers) {
			return errors.New("the URL may have ?http=host:port behind it, one for each server, and nothing else")
		}
	}
	s.security, err = s.own.TLS.Config()
	return err
}

// channelName is the same for all members of a group. A subscription without a group has its own channel.
func (s *session) channelName(group string) string {
	if group == "" {
		group = fmt.Sprintf("%d-%d", s.Client, s.channels.Add(1)-1)
	}
	return strings.ReplaceAll(s.Named("-", group), ":", "-")
}

// everywhere makes or removes something on all servers.
func (s *session) everywhere(ctx context.Context, path, topic, channel string) error {
	_, err := s.ask(ctx, http.MethodPost, path, url.Values{"topic": {topic}, "channel": {channel}})
	return err
}

// stats is the report of all nsqd about themselves, and about the topic if they have it.
func (s *session) stats(ctx context.Context, topic string) (stats, error) {
	query := url.Values{"format": {"json"}, "topic": {topic}, "include_clients": {"false"}, "include_mem": {"false"}}
	return s.ask(ctx, http.MethodGet, "/stats", query)
}

type stats struct {
	Version string            `json:"version"`
	Topics  []json.RawMessage `json:"topics"`
}

// ask sends a request to the HTTP ports of all servers. One without the topic or the channel has no answer.
func (s *session) ask(ctx context.Context, method, path string, query url.Values) (all stats, err error) {
	for _, where := range s.https {
		request, err := http.NewRequestWithContext(ctx, method, "http://"+where+path+"?"+query.Encode(), nil)
		if err != nil {
			return all, err
		}
		answer, err := httpClient.Do(request)
		if err != nil {
			return all, fmt.Errorf("nsqd's HTTP port does not answer (%w); it makes topics and channels: write it behind the URL, ?http=host:port, if it is not the port above the first one",
				address.Cause(err))
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		var said stats
		switch {
		case err != nil:
		case answer.StatusCode == http.StatusOK && method == http.MethodGet:
			err = json.Unmarshal(body, &said)
		case answer.StatusCode != http.StatusOK && (answer.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "_NOT_FOUND")):
			err = fmt.Errorf("nsqd's HTTP port answers %s %s", answer.Status, strings.TrimSpace(string(body)))
		}
		if err != nil {
			return all, err
		}
		all.Version, all.Topics = said.Version, append(all.Topics, said.Topics...)
	}
	return all, nil
}
