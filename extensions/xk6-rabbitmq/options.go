package rabbitmq

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/url"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[driverOptions](defaultsText)

// driverOptions are a scenario's settings of RabbitMQ; missing ones follow from the durability level.
type driverOptions struct {
	Queue string `json:"queue" known:"classic quorum transient stream"`
	// Exchange is the kind of exchanges: direct, fanout or topic; "" is direct, or topic if a subscription is a pattern.
	Exchange string `json:"exchange" known:"direct fanout topic"`
	Confirms bool   `json:"confirms"`
	// Persistent sets delivery mode 2; nil means in all but transient queues.
	Persistent *bool `json:"persistent"`
	// Acknowledge of consumers: automatic, message, batch or interval; "" is message in a group, automatic without.
	Acknowledge string `json:"acknowledge" known:"automatic message batch interval"`
	// Prefetch 0 means no limit. RabbitMQ's documentation finds 100 to 300 best for throughput.
	Prefetch int `json:"prefetch"`
	// SubEntrySize is of streams.
	SubEntrySize int         `json:"subEntrySize"`
	TLS          address.TLS `json:"tls"`
}

const (
	classic   = "classic"
	quorum    = "quorum"
	transient = "transient"
	ofStream  = "stream"

	securePort = "5671"

	direct  = amqp.ExchangeDirect
	fanout  = amqp.ExchangeFanout
	pattern = amqp.ExchangeTopic
)

// queueOfLevel is the kind of queue for each durability level. A classic queue of version 2 writes persistent messages but does not flush
// before it confirms; a quorum queue flushes its log first; a transient one keeps nothing.
var queueOfLevel = map[string]string{"": classic, "memory": transient, "os": classic, "fsync": quorum}

func decode(o broker.Options) (driverOptions, error) {
	d := defaults
	if err := o.Decode(&d); err != nil {
		return d, err
	}
	ofLevel, known := queueOfLevel[o.Durability]
	if !known {
		return d, fmt.Errorf("durability must be memory, os or fsync, got %q", o.Durability)
	}
	d.Queue = cmp.Or(d.Queue, ofLevel)
	d.Persistent = cmp.Or(d.Persistent, new(d.Queue != transient))
	return d, nil
}

// versionFor is the version of classic queues that a level needs on a server; 0 means the broker's default. RabbitMQ 3 has two versions.
// The first one, its default, flushes before it confirms, which would make level os the same as fsync.
func versionFor(queue, level, server string) (int, error) {
	if queue != classic || level != "os" {
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

// addresses are the nodes of a cluster, one URL each. We encrypt by ourselves, so the library gets none of amqps://, which sets the option.
func addresses(urls string, option *address.TLS) ([]string, error) {
	list, err := address.List(urls)
	for i, one := range list {
		at, err := url.Parse(one)
		if err == nil {
			_, err = amqp.ParseURI(one)
		}
		if err != nil {
			return nil, fmt.Errorf("the URL cannot be read: %w", address.Cause(err))
		}
		if at.Scheme == "amqps" && !option.On && i > 0 {
			return nil, errors.New("the first URL is amqp:// and another one amqps://: write amqps:// for all of them")
		}
		if option.On = option.On || at.Scheme == "amqps"; option.On {
			at.Scheme, at.Host = "amqp", net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), securePort))
			list[i] = at.String()
		}
	}
	return list, err
}
