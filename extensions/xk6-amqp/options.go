package amqp

import (
	_ "embed"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/amqp/index.ts describes and writes them.
type options struct {
	TLS         address.TLS `json:"tls"`
	Destination string      `json:"destination" known:"queue topic"`
	Settled     bool        `json:"settled"`
	Prefetch    int         `json:"prefetch"`
}

// All other settings are set here, and printed by Describe.
const (
	connectTimeout = 5 * time.Second
	reconnectWait  = 100 * time.Millisecond
	// A server that is silent for idleTimeout is given up; it sends something twice in that time.
	idleTimeout  = 30 * time.Second
	writeTimeout = 30 * time.Second
	maxFrameSize = 64 * 1024
)

// Kinds of addresses, as both ends of a link name them (capabilities of a terminus, AMQP bindings of JMS).
const (
	queue = "queue"
	topic = "topic"
)

func (s *session) sender() *amqp.SenderOptions {
	mode := amqp.SenderSettleModeUnsettled
	if s.own.Settled {
		mode = amqp.SenderSettleModeSettled
	}
	return &amqp.SenderOptions{SettlementMode: &mode, TargetCapabilities: []string{s.own.Destination}}
}

// receiver takes messages unsettled: the server hands them out again if they are not accepted.
func (s *session) receiver() *amqp.ReceiverOptions {
	unsettled, first := amqp.SenderSettleModeUnsettled, amqp.ReceiverSettleModeFirst
	return &amqp.ReceiverOptions{
		Credit: int32(s.own.Prefetch), RequestedSenderSettleMode: &unsettled, SettlementMode: &first, SourceCapabilities: []string{s.own.Destination},
	}
}
