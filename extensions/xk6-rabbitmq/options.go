package rabbitmq

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// defaultPrefetch is how many messages a consumer holds that are not yet acknowledged, where the scenario says nothing:
// RabbitMQ's documentation finds 100 to 300 best for throughput; the smaller, the fairer among slow consumers.
const defaultPrefetch = 100

// driverOptions are what a scenario may say of RabbitMQ; what is absent follows from the level of durability.
type driverOptions struct {
	// Queue is the kind of queues: classic, quorum or transient.
	Queue string `json:"queue"`
	// Exchange is the kind of exchanges: direct, fanout or topic; "": direct, and topic where a subscription is a pattern.
	Exchange string `json:"exchange"`
	// Confirms: the broker answers each message (publisher confirms).
	Confirms *bool `json:"confirms"`
	// Persistent sets delivery mode 2.
	Persistent *bool `json:"persistent"`
	// Ack of consumers: manual or auto; "": manual, and auto on queues that end with their consumer.
	Ack string `json:"ack"`
	// Prefetch of each consumer; nil: defaultPrefetch, 0: no bound.
	Prefetch *int        `json:"prefetch"`
	TLS      *tlsOptions `json:"tls"`
}

type tlsOptions struct {
	CA         string `json:"ca"`
	Cert       string `json:"cert"`
	Key        string `json:"key"`
	ServerName string `json:"serverName"`
	Insecure   bool   `json:"insecure"`
}

// choices are driverOptions made definite.
type choices struct {
	queue      string
	exchange   string
	confirms   bool
	persistent bool
	ack        string
	prefetch   int
	replicas   int
	// level is the durability that was asked for; "": none.
	level string
	// version of classic queues; 0: the broker's own.
	version int
}

const (
	classic   = "classic"
	quorum    = "quorum"
	transient = "transient"

	direct  = amqp.ExchangeDirect
	fanout  = amqp.ExchangeFanout
	pattern = amqp.ExchangeTopic

	manual = "manual"
	auto   = "auto"
)

// queueOfLevel: what each level of durability means for a queue. A classic queue of version 2 writes persistent messages and
// does not flush before it confirms; a quorum queue flushes its log first; a transient one keeps nothing.
var queueOfLevel = map[string]string{"": classic, "memory": transient, "os": classic, "fsync": quorum}

func choose(o broker.Options, d driverOptions) (choices, error) {
	ofLevel, known := queueOfLevel[o.Durability]
	if !known {
		return choices{}, fmt.Errorf("there is no durability %q; there are memory, os and fsync", o.Durability)
	}
	c := choices{
		queue: d.Queue, exchange: d.Exchange, confirms: true, ack: d.Ack, prefetch: defaultPrefetch, replicas: o.Replicas,
		level: o.Durability,
	}
	if c.queue == "" {
		c.queue = ofLevel
	}
	c.persistent = c.queue != transient
	if d.Confirms != nil {
		c.confirms = *d.Confirms
	}
	if d.Persistent != nil {
		c.persistent = *d.Persistent
	}
	if d.Prefetch != nil {
		c.prefetch = *d.Prefetch
	}
	switch {
	case !oneOf(c.queue, classic, quorum, transient):
		return c, fmt.Errorf("there is no queue %q; there are classic, quorum and transient", c.queue)
	case !oneOf(c.exchange, "", direct, fanout, pattern):
		return c, fmt.Errorf("there is no exchange %q; there are direct, fanout and topic", c.exchange)
	case !oneOf(c.ack, "", manual, auto):
		return c, fmt.Errorf("there is no ack %q; there are manual and auto", c.ack)
	case c.prefetch < 0 || c.prefetch > 65_535:
		return c, fmt.Errorf("prefetch is 0 to 65535, got %d", c.prefetch)
	case o.Durability != "" && c.queue != ofLevel:
		return c, fmt.Errorf("durability %s is queue %s, got queue %s", o.Durability, ofLevel, c.queue)
	case c.replicas > 1 && c.queue != quorum:
		return c, fmt.Errorf("only quorum queues have replicas, got %d for queue %s", c.replicas, c.queue)
	}
	return c, nil
}

// versionFor gives the version of classic queues that a level asks of a server. RabbitMQ 3 has two of them, of which the first,
// its own choice, flushes before it confirms: with it level os would be fsync.
func (c choices) versionFor(server string) (int, error) {
	if c.queue != classic || c.level != "os" {
		return 0, nil
	}
	var major, minor int
	if n, _ := fmt.Sscanf(server, "%d.%d", &major, &minor); n < 2 || major > 3 {
		return 0, nil
	}
	if minor < 10 {
		return 0, fmt.Errorf("durability os needs RabbitMQ 3.10 or newer, whose classic queues can confirm without a flush; this is %s", server)
	}
	return 2, nil
}

// addresses are the nodes of a cluster, one URL each.
func addresses(urls string) ([]string, error) {
	if urls == "" {
		return nil, errors.New("there is no URL of a server")
	}
	var list []string
	for _, one := range strings.Split(urls, ",") {
		one = strings.TrimSpace(one)
		if _, err := amqp.ParseURI(one); err != nil {
			return nil, fmt.Errorf("the URL cannot be read: %w", withoutURL(err))
		}
		list = append(list, one)
	}
	return list, nil
}

// tlsConfig: nil without options of ours; the library then reads those of the URL.
func tlsConfig(o *tlsOptions) (*tls.Config, error) {
	if o == nil {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.ServerName, InsecureSkipVerify: o.Insecure}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("tls: read ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: %s holds no certificate", o.CA)
		}
	}
	if o.Cert != "" || o.Key != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("tls: read cert and key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// --- internal ---

// withoutURL takes the URL, which may hold a password, out of an error of net/url.
func withoutURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

func oneOf(word string, words ...string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}
