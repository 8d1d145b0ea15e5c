// Package pulsar is the driver for Apache Pulsar: a group is a subscription, other consumers are readers, which store no position.
package pulsar

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
	"strconv"
	"strings"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// New makes a session. Its URL is pulsar://host:6650,host:6650, or pulsar+ssl:// for TLS; a password is a token. ?http=host:port may follow: the
// admin API, which makes topics.
func New(o broker.Options) (broker.Session, error) {
	s := &session{Base: broker.NewBase("pulsar", o), own: defaults}
	return s, broker.Wrap("pulsar", s.read())
}

type session struct {
	*broker.Base
	broker.DropsNothing // the library keeps all messages that it has asked for
	own                 options
	at                  address.Address
	security            *tls.Config
	// service is the URL for the library, without a password, admin the API's.
	service, admin string
	http           *http.Client
	server         string
	links          []*link
	layout         broker.Layout
	consumers      broker.List[*consumer]
}

var (
	_ broker.Remover = (*session)(nil)
	_ broker.Leaver  = (*session)(nil)
)

func (s *session) Open(ctx context.Context) error {
	for i := range s.Connections {
		l := &link{Link: broker.Link[*wire]{Wait: reconnectWait}, session: s}
		if err := l.Open(ctx, s.Base, l.dial); err != nil {
			return fmt.Errorf("pulsar: connect: %w", broker.Nth(i, s.Connections, address.Cause(err)))
		}
		s.links = append(s.links, l)
	}
	version, _, err := s.ask(ctx, http.MethodGet, "brokers/version", "")
	s.server = "Pulsar " + version
	return broker.Wrap("pulsar", err)
}

func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	s.layout = layout
	for _, to := range layout.Subscriptions {
		if members, _ := layout.Members(to); to.Group != "" && members > 1 && s.own.Subscription == "exclusive" {
			return errors.New("pulsar: an exclusive subscription has one consumer; write subscription: failover")
		}
	}
	if s.Client > 0 {
		return nil
	}
	return deadline.Each(ctx, layout.Topics, func(ctx context.Context, t broker.Topic) error {
		if s.Run != "" {
			return broker.Wrap("pulsar", s.exists(ctx, t))
		}
		return broker.Wrap(fmt.Sprintf("pulsar: make topic %q", t.Name), errors.Join(s.delete(ctx, t.Name), s.make(ctx, t)))
	})
}

func (s *session) Producer(connection int) (broker.Producer, error) {
	l := s.links[connection]
	ctx, cancel := context.WithTimeout(s.Over, adminTimeout)
	defer cancel()
	return l, broker.Wrap("pulsar: make producers", l.carry(ctx, l.attach))
}

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	c := &consumer{Subscription: to, session: s, handle: handle}
	c.over, c.end = context.WithCancel(s.Over)
	s.consumers.Add(c)
	return broker.Wrap(fmt.Sprintf("pulsar: subscribe to %q", to.Topic), s.links[to.Connection].carry(ctx, c.attach))
}

func (s *session) Leave(ctx context.Context) error {
	s.Quiet()
	return deadline.Each(ctx, s.consumers.All(), func(ctx context.Context, c *consumer) error { return c.stop(ctx) })
}

// Remove deletes the topics that Prepare has made, or the groups' subscriptions of the user's topics. The connections end first: a reader that is
// connected could make its topic again.
func (s *session) Remove(ctx context.Context) error {
	err := s.Leave(ctx)
	s.hangUp()
	if !s.Found() {
		return broker.Wrap("pulsar: remove topics", errors.Join(err, deadline.Each(ctx, s.layout.Names(), s.delete)))
	}
	for _, to := range s.layout.Subscriptions {
		if to.Group != "" && s.Client == 0 {
			_, _, failed := s.ask(ctx, http.MethodDelete, path(to.Topic)+"/subscription/"+url.PathEscape(s.Named("-", to.Group))+"?force=true", "")
			err = errors.Join(err, failed)
		}
	}
	return broker.Wrap("pulsar: remove subscriptions", err)
}

func (s *session) Describe() broker.Description {
	set := broker.Settings[struct{}]{}
	batching := "none"
	if s.own.LingerNs > 0 {
		batching = fmt.Sprintf("for %s, up to %d messages or %d bytes of a partition", time.Duration(s.own.LingerNs), s.own.Batch, max(maxBatchBytes, s.MessageBytes))
	}
	acknowledge := map[string]string{
		"": "each message", broker.PerMessage: "each message", broker.PerInterval: fmt.Sprintf("every %s, or %d together", broker.AcknowledgeInterval, ackGroup),
	}[s.own.Acknowledge]
	if s.own.Cumulative {
		acknowledge += ", with all before it"
	}
	set.Print(map[string]any{
		"connections": s.Connections, "tls": s.security != nil, "login": map[bool]string{true: "token", false: "none"}[s.at.Password != ""],
		"subscription": s.own.Subscription, "connectionTimeout": dialTimeout, "operationTimeout": operationTimeout, "keepAliveInterval": keepAlive,
		"maxPendingMessages": s.pending(), "memoryLimit": "none", "sendTimeout": time.Duration(s.TimeoutNs), "ackWithResponse": false, "receiverQueueSize": s.own.Prefetch,
		"reconnect": fmt.Sprintf("by a new client after %s; nothing is sent again", reconnectWait), "routing": "the message's partition; without one Java's hash of its key",
		"confirm": "each message", "flush": "each message, by the library's goroutine", "batching": batching, "compression": s.own.Compression,
		"acknowledgeAlone": "every 100ms, by the library's reader", "acknowledgeInGroup": acknowledge, "prefetch": fmt.Sprintf("%d messages of a partition", s.own.Prefetch),
	})
	if s.own.LingerNs > 0 {
		set.Print(map[string]any{"confirm": "each batch", "flush": "each batch"})
	}
	return broker.Description{
		Acks: true, Order: "per-producer", GroupOrder: s.own.Subscription != "shared", Stores: true, Replays: true, Settings: set.Printed,
		Library: "pulsar-client-go " + broker.LibraryVersion("github.com/apache/pulsar-client-go"), Server: cmp.Or(s.server, "Pulsar"),
	}
}

func (s *session) Kill() {
	s.Quiet()
	for _, l := range s.links {
		if w, is := l.Now(); is {
			w.kill()
		}
	}
}

func (s *session) Close() error {
	s.End()
	s.hangUp()
	return nil
}

// --- internal ---

func (s *session) read() (err error) {
	if err = s.Decode(&s.own); err != nil {
		return err
	}
	text, query, _ := strings.Cut(s.URL, "?")
	plain, secure := address.Scheme{Name: "pulsar", Port: "6650"}, address.Scheme{Name: "pulsar+ssl", Port: "6651"}
	if s.at, s.security, err = address.ParseSecure(text, s.own.TLS, plain, secure); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(s.at.Hosts[0])
	scheme, admin := "http://", net.JoinHostPort(host, "8080")
	s.service = "pulsar://"
	if s.security != nil {
		scheme, admin, s.service = "https://", net.JoinHostPort(host, "8443"), "pulsar+ssl://"
	}
	if query != "" {
		var is bool
		if admin, is = strings.CutPrefix(query, "http="); !is {
			return errors.New("the URL may have ?http=host:port behind it, for the admin API, and nothing else")
		}
	}
	s.service += strings.Join(s.at.Hosts, ",")
	s.admin = scheme + admin + "/admin/v2/"
	s.http = &http.Client{Timeout: adminTimeout, Transport: &http.Transport{TLSClientConfig: s.security, DisableKeepAlives: true}}
	return nil
}

// greet looks whether a server listens: the library has one error for everything.
func (s *session) greet(ctx context.Context) (err error) {
	for _, host := range s.at.Hosts {
		var socket net.Conn
		if socket, err = (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", host); err == nil {
			return socket.Close()
		}
	}
	return err
}

func (s *session) hangUp() {
	deadline.AtMost(closeTimeout, deadline.Steps(s.links, func(l *link) {
		if w, is := l.Now(); is {
			w.close()
		}
	})...)
}

// path is a topic's place in the admin API.
func path(name string) string {
	if !strings.Contains(name, "://") {
		name = "persistent://public/default/" + name
	}
	return (&url.URL{Path: strings.Replace(name, "://", "/", 1)}).EscapedPath()
}

func (s *session) exists(ctx context.Context, t broker.Topic) error {
	said, _, err := s.ask(ctx, http.MethodGet, path(t.Name)+"/partitions", "")
	var has struct{ Partitions int }
	_ = json.Unmarshal([]byte(said), &has) // what does not exist has another answer
	is := has.Partitions > 0
	if err == nil && !is {
		_, is, err = s.ask(ctx, http.MethodGet, path(t.Name)+"/stats", "")
	}
	switch {
	case err != nil:
		return err
	case !is:
		return broker.MissingTopic(t.Name, "the admin API knows none")
	case max(1, has.Partitions) != t.Partitions:
		return fmt.Errorf("topic %s has %d partitions, and this run expects %d; write partitions: %[2]d", t.Name, max(1, has.Partitions), t.Partitions)
	}
	return nil
}

func (s *session) delete(ctx context.Context, name string) error {
	_, _, err := s.ask(ctx, http.MethodDelete, path(name)+"/partitions?force=true", "")
	return err
}

// make makes a topic that keeps its messages: by default it drops what all subscriptions have acknowledged, and readers have none.
func (s *session) make(ctx context.Context, t broker.Topic) error {
	_, is, err := s.ask(ctx, http.MethodPut, path(t.Name)+"/partitions", strconv.Itoa(t.Partitions))
	if err == nil && is {
		_, is, err = s.ask(ctx, http.MethodPost, path(t.Name)+"/retention", `{"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}`)
	}
	if err == nil && !is {
		err = errors.New("the admin API knows no such namespace")
	}
	return err
}

// ask sends a request to the admin API. found is false if it knows no such thing.
func (s *session) ask(ctx context.Context, method, at, body string) (answer string, found bool, err error) {
	request, err := http.NewRequestWithContext(ctx, method, s.admin+at, strings.NewReader(body))
	if err != nil {
		return "", false, err
	}
	request.Header.Set("Content-Type", "application/json")
	if s.at.Password != "" {
		request.Header.Set("Authorization", "Bearer "+s.at.Password)
	}
	response, err := s.http.Do(request)
	if err != nil {
		return "", false, fmt.Errorf("the admin API does not answer (%w); it makes topics: write it behind the URL, ?http=host:port, if it is not port 8080", address.Cause(err))
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if code := response.StatusCode; err == nil && code >= http.StatusBadRequest && code != http.StatusNotFound {
		err = fmt.Errorf("the admin API answers %s %s", response.Status, strings.TrimSpace(string(said)))
	}
	return strings.TrimSpace(string(said)), response.StatusCode != http.StatusNotFound, err
}
