package sqs

import (
	_ "embed"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/sqs/index.ts describes and writes them.
type options struct {
	Region       string `json:"region"`
	FIFO         bool   `json:"fifo"`
	Groups       int    `json:"groups"`
	Batch        int    `json:"batch"`
	Requests     int    `json:"requests"`
	Prefetch     int    `json:"prefetch"`
	WaitNs       int64  `json:"waitNs"`
	VisibilityNs int64  `json:"visibilityNs"`
}

// All other settings are set here, and printed by Describe.
const (
	defaultTimeout = 30 * time.Second
	dialTimeout    = 5 * time.Second
	retryWait      = 100 * time.Millisecond
	// idleConnections of HTTP are kept open: the largest possible number.
	idleTimeout = 90 * time.Second
)
