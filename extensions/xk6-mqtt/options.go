package mqtt

import (
	"errors"
	"fmt"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Versions of the protocol, each with a library of its own.
const (
	version5 = "5"
	version3 = "3.1.1"
)

// Sessions of consumers.
const (
	sessionClean      = "clean"
	sessionPersistent = "persistent"
)

// options are the driver's own, as runner/brokers/mqtt/options.ts writes them.
type options struct {
	Protocol string `json:"protocol"`
	// QoS of messages and of subscriptions.
	QoS byte `json:"qos"`
	// Session says whether the broker keeps what a consumer gets while its connection is lost.
	Session string `json:"session"`
	// ReceiveMaximum is how many messages of QoS 1 and 2 either side sends before the first of them is acknowledged.
	ReceiveMaximum int         `json:"receiveMaximum"`
	KeepAliveNs    int64       `json:"keepAliveNs"`
	NoDelay        bool        `json:"noDelay"`
	TLS            address.TLS `json:"tls"`
}

// What is not an option is set here, all of it, and printed by Describe.
const (
	connectTimeout = 5 * time.Second
	reconnectWait  = 100 * time.Millisecond
	// sessionExpiry is when a persistent session ends that a killed run has left; only MQTT 5 can say so.
	sessionExpiry = 5 * time.Minute
	// readBufferBytes: the libraries read a packet's header byte by byte, and without a buffer each is a system call.
	readBufferBytes = 64 * 1024
)

func defaults() options {
	return options{
		Protocol: version5, QoS: 1, Session: sessionClean, ReceiveMaximum: 20, NoDelay: true, // mosquitto's own maximum
		// Long, because a library whose consumer pauses may read no answer to its ping.
		KeepAliveNs: int64(10 * time.Minute),
	}
}

func (o *options) Check() error {
	err := broker.Choose(
		broker.Choice{Name: "protocol", Value: o.Protocol, Known: []string{version5, version3}},
		broker.Choice{Name: "session", Value: o.Session, Known: []string{sessionClean, sessionPersistent}},
	)
	switch {
	case err != nil:
		return err
	case o.QoS > 2:
		return fmt.Errorf("driver options: qos must be 0, 1 or 2, got %d", o.QoS)
	case o.ReceiveMaximum < 1 || o.ReceiveMaximum > 65535:
		return fmt.Errorf("driver options: receiveMaximum must be from 1 to 65535, got %d", o.ReceiveMaximum)
	case o.KeepAliveNs%int64(time.Second) != 0 || o.KeepAliveNs < 0 || o.KeepAliveNs > int64(65535*time.Second):
		return fmt.Errorf("driver options: keepAlive must be whole seconds, up to 65535, got %s", time.Duration(o.KeepAliveNs))
	case o.QoS == 0 && o.Session == sessionPersistent:
		return errors.New("driver options: session persistent needs qos 1 or 2, because brokers keep no message of qos 0")
	}
	return nil
}

func (o *options) keepAliveSeconds() int { return int(o.KeepAliveNs / int64(time.Second)) }
