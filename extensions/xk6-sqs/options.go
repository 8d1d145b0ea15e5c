package sqs

import (
	_ "embed"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/sqs/index.ts writes them.
type options struct {
	Region string `json:"region"`
	// FIFO: queues keep the order of each message group, and drop messages with the deduplication id of an earlier message.
	FIFO bool `json:"fifo"`
	// Groups is how many message groups of a FIFO queue the messages of a connection are dealt over that have no key.
	Groups int `json:"groups"`
	// Batch is how many waiting messages share a request at most.
	Batch int `json:"batch"`
	// Requests is how many requests are on their way on one connection of mqbench's, each on an HTTP connection.
	Requests int `json:"requests"`
	// Prefetch is how many messages an answer to a consumer has at most.
	Prefetch int `json:"prefetch"`
	// WaitNs is how long the server waits with an empty answer: long polling. 0 is short polling.
	WaitNs int64 `json:"waitNs"`
	// VisibilityNs is how long a consumer may take for a message before it is handed out again.
	VisibilityNs int64 `json:"visibilityNs"`
	// Encoding is "base64", in the body, or "binary", an attribute next to a body of one letter.
	Encoding string `json:"encoding" known:"base64 binary"`
}

// All other settings are set here, and printed by Describe.
const (
	defaultTimeout = 30 * time.Second
	dialTimeout    = 5 * time.Second
	retryWait      = 100 * time.Millisecond
	// idleConnections of HTTP are kept open: the largest possible number.
	idleTimeout = 90 * time.Second
)
