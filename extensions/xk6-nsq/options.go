package nsq

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nsqio/go-nsq"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/nsq/index.ts writes them.
type options struct {
	TLS address.TLS `json:"tls"`
	// Prefetch is how many messages a consumer has in flight: its RDY count, shared between the servers it is connected to.
	Prefetch int `json:"prefetch"`
	// MsgTimeoutNs is how long the server waits for a consumer's answer (FIN); 0 is the server's own, which is that of defaults.
	MsgTimeoutNs int64 `json:"msgTimeoutNs"`
	// OutputBuffer is "none", or "default": nsqd holds messages back for a consumer that is behind, up to 16 KiB or 250 ms.
	OutputBuffer string `json:"outputBuffer" known:"none default"`
}

// What is not an option is set here, all of it, and printed by Describe.
const (
	dialTimeout = 5 * time.Second
	maxGreeting = 1024
	// A server that is silent for readTimeout is given up; nsqd gives up a client after two heartbeats.
	heartbeatInterval = 10 * time.Second
	readTimeout       = 30 * time.Second
	longestTimeout    = 5 * time.Minute // go-nsq's limit
	reconnectWait     = 100 * time.Millisecond
	httpTimeout       = 5 * time.Second
)

// config is what every connection gets, with the text that Describe prints.
func (s *session) config() (*nsq.Config, broker.Settings[struct{}]) {
	c, printed := nsq.NewConfig(), broker.Settings[struct{}]{}
	set := func(option string, value any) {
		if err := c.Set(option, value); err != nil {
			panic(err) // the runner keeps the library's own limits
		}
		printed.Set(option, value)
	}
	set("client_id", s.client)
	set("dial_timeout", dialTimeout)
	set("read_timeout", readTimeout)
	set("write_timeout", s.writeTimeout())
	set("heartbeat_interval", heartbeatInterval)
	set("lookupd_poll_interval", reconnectWait) // without nsqlookupd: between attempts to reconnect
	set("lookupd_poll_jitter", 0.0)
	set("max_in_flight", s.own.Prefetch)
	set("max_attempts", 0) // the library would throw a message away
	set("max_backoff_duration", time.Duration(0))
	set("sample_rate", 0)
	set("snappy", false)
	set("deflate", false)
	set("msg_timeout", time.Duration(s.own.MsgTimeoutNs))
	if s.own.OutputBuffer == "none" {
		set("output_buffer_size", -1)
		set("output_buffer_timeout", -1*time.Nanosecond)
	} else {
		set("output_buffer_size", 16384)
		set("output_buffer_timeout", 250*time.Millisecond)
	}
	if s.security != nil {
		set("tls_v1", true)
		c.TlsConfig = s.security
	}
	c.AuthSecret = s.secret
	return c, printed
}

// ask sends a request to the HTTP port of a server. missing: it does not know the topic or the channel.
func (s *session) ask(ctx context.Context, server int, method, path string, query url.Values, into any) (missing bool, err error) {
	where := s.https[server]
	request, err := http.NewRequestWithContext(ctx, method, "http://"+where+path+"?"+query.Encode(), nil)
	if err != nil {
		return false, err
	}
	answer, err := s.http.Do(request)
	if err != nil {
		return false, fmt.Errorf("nsqd's HTTP port does not answer (%w); it makes topics and channels: write it behind the URL, ?http=host:port, if it is not the port above the first one",
			address.Cause(err))
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return false, err
	}
	switch {
	case answer.StatusCode == http.StatusNotFound && strings.Contains(string(body), "_NOT_FOUND"):
		return true, nil
	case answer.StatusCode != http.StatusOK:
		return false, fmt.Errorf("nsqd's HTTP port answers %s %s", answer.Status, strings.TrimSpace(string(body)))
	case into != nil:
		return false, json.Unmarshal(body, into)
	}
	return false, nil
}

// everywhere sends a request to all servers.
func (s *session) everywhere(ctx context.Context, path string, query url.Values) error {
	for server := range s.servers {
		if _, err := s.ask(ctx, server, http.MethodPost, path, query, nil); err != nil {
			return err
		}
	}
	return nil
}

// knows reports whether a server has the topic.
func (s *session) knows(ctx context.Context, topic string) (bool, error) {
	for server := range s.servers {
		var stats struct {
			Topics []struct {
				Name string `json:"topic_name"`
			} `json:"topics"`
		}
		query := url.Values{"format": {"json"}, "topic": {topic}, "include_clients": {"false"}, "include_mem": {"false"}}
		if _, err := s.ask(ctx, server, http.MethodGet, "/stats", query, &stats); err != nil {
			return false, err
		}
		for _, one := range stats.Topics {
			if one.Name == topic {
				return true, nil
			}
		}
	}
	return false, nil
}

// --- internal ---

// writeTimeout: a shorter message timeout limits a write that the server does not take.
func (s *session) writeTimeout() time.Duration {
	return min(longestTimeout, max(time.Second, cmp.Or(time.Duration(s.TimeoutNs), longestTimeout)))
}

func (s *session) msgTimeout() time.Duration {
	return time.Duration(cmp.Or(s.own.MsgTimeoutNs, defaults.MsgTimeoutNs))
}
