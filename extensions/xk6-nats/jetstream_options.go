package nats

import (
	"errors"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// jetStreamOptions are the options of mode jetstream only.
type jetStreamOptions struct {
	// Storage is "memory" or "file"; "" follows the durability, else file.
	Storage string `json:"storage"`
	// Publish is "async" or "sync".
	Publish string `json:"publish"`
	// Consumer is "pull", "push" or "ordered"; "" is pull for groups and ordered without.
	Consumer string `json:"consumer"`
	// Dedup gives every message an id.
	Dedup bool `json:"dedup"`
	// MaxAckPending and Prefetch; 0 is the default below, fewer for large messages.
	MaxAckPending int `json:"maxAckPending"`
	Prefetch      int `json:"prefetch"`
	// AckWaitNs; 0 is the default below.
	AckWaitNs int64 `json:"ackWaitNs"`
}

// The defaults of server and library, written out.
const (
	defaultMaxAckPending = 1000
	defaultPrefetch      = 500
	defaultAckWait       = 30 * time.Second
	// bufferBytes limits what waits in the library for one consumer: it throws away what exceeds 64 MB.
	bufferBytes = 32 << 20
)

func (o *jetStreamOptions) Check() error {
	err := broker.Choose(
		broker.Choice{Name: "storage", Value: o.Storage, Known: []string{"", "memory", "file"}},
		broker.Choice{Name: "publish", Value: o.Publish, Known: []string{"async", "sync"}},
		broker.Choice{Name: "consumer", Value: o.Consumer, Known: []string{"", "pull", "push", "ordered"}},
	)
	if err == nil && (o.MaxAckPending < 0 || o.Prefetch < 0 || o.AckWaitNs < 0) {
		err = errors.New("driver options: maxAckPending, prefetch and ackWaitNs cannot be negative")
	}
	return err
}

// --- internal ---

// atMost is how many messages of that size fit into a consumer's buffer: at least one, at most n.
func atMost(n, messageBytes int) int { return max(1, min(n, bufferBytes/max(1, messageBytes))) }
