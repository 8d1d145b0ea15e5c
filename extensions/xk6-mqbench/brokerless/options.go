package brokerless

import (
	"errors"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Options are those that all such drivers have; runner/brokers/brokerless.ts writes them. Drivers embed them.
type Options struct {
	Mode Mode `json:"mode"`
	// Transport is "tcp", or "ipc": sockets of this machine alone.
	Transport string `json:"transport"`
}

// Check sets defaults, and refuses what is not known.
func (o *Options) Check() error {
	if o.Mode == "" {
		o.Mode = PushPull
	}
	if o.Transport == "" {
		o.Transport = "tcp"
	}
	return broker.Choose(
		broker.Choice{Name: "mode", Value: string(o.Mode), Known: []string{string(PushPull), string(PubSub), string(ReqRep)}},
		broker.Choice{Name: "transport", Value: o.Transport, Known: []string{"tcp", "ipc"}},
	)
}

// fits refuses what a mode cannot do.
func (m Mode) fits(to broker.Subscription, reply bool, taken bool) error {
	switch {
	case m == PubSub && to.Group != "":
		return errors.New("every subscriber gets every message: there are no groups with mode pub-sub")
	case m != PubSub && to.Wildcard:
		return errors.New("only mode pub-sub has subscriptions by a pattern")
	case m == ReqRep && to.Group == "" && !reply:
		return errors.New("mode req-rep has requests and replies alone")
	case m == PushPull && taken:
		return errors.New("each message goes to one receiver: a second subscription would take messages from the first")
	}
	return nil
}
