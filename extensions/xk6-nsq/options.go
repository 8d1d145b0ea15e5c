package nsq

import (
	"cmp"
	_ "embed"
	"net/http"
	"time"

	"github.com/nsqio/go-nsq"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/nsq/index.ts describes and writes them.
type options struct {
	TLS      address.TLS `json:"tls"`
	Prefetch int         `json:"prefetch"`
	// MsgTimeoutNs is how long the server waits for a consumer's answer (FIN); 0 means the server's default, as in defaults.
	MsgTimeoutNs int64  `json:"msgTimeoutNs"`
	OutputBuffer string `json:"outputBuffer" known:"none default"`
}

// All other settings are set here, and printed by Describe.
const (
	dialTimeout = 5 * time.Second
	maxGreeting = 1024
	// A server that is silent for readTimeout is given up; nsqd gives up a client after two heartbeats.
	heartbeatInterval = 10 * time.Second
	readTimeout       = 30 * time.Second
	longestTimeout    = 5 * time.Minute // go-nsq's limit
	reconnectWait     = 100 * time.Millisecond
	httpTimeout       = 5 * time.Second
	closeTimeout      = time.Second
	defaultPort       = "4150"
)

// httpClient makes a connection for each request, so nothing stays open.
var httpClient = &http.Client{Timeout: httpTimeout, Transport: &http.Transport{DisableKeepAlives: true}}

// config is the configuration of every connection, with the text that Describe prints.
func (s *session) config() (*nsq.Config, broker.Settings[struct{}]) {
	c, printed := nsq.NewConfig(), broker.Settings[struct{}]{}
	set := func(values map[string]any) {
		for option, value := range values {
			if err := c.Set(option, value); err != nil {
				panic(err) // the runner keeps the library's own limits
			}
			printed.Set(option, value)
		}
	}
	set(map[string]any{
		"client_id": s.client, "dial_timeout": dialTimeout, "read_timeout": readTimeout, "heartbeat_interval": heartbeatInterval,
		// A shorter message timeout limits a write that the server does not take.
		"write_timeout": min(longestTimeout, max(time.Second, cmp.Or(time.Duration(s.TimeoutNs), longestTimeout))),
		// Without nsqlookupd: between attempts to reconnect.
		"lookupd_poll_interval": reconnectWait, "lookupd_poll_jitter": 0.0,
		// With max_attempts the library would throw a message away.
		"max_in_flight": s.own.Prefetch, "max_attempts": 0, "max_backoff_duration": time.Duration(0), "msg_timeout": time.Duration(s.own.MsgTimeoutNs),
		"sample_rate": 0, "snappy": false, "deflate": false, "output_buffer_size": 16384, "output_buffer_timeout": 250 * time.Millisecond,
	})
	if s.own.OutputBuffer == "none" {
		set(map[string]any{"output_buffer_size": -1, "output_buffer_timeout": -1 * time.Nanosecond})
	}
	if s.security != nil {
		set(map[string]any{"tls_v1": true})
		c.TlsConfig = s.security
	}
	c.AuthSecret = s.secret
	return c, printed
}
