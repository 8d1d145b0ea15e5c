package redis

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// What happens to a message in Redis.
const (
	modePubSub  = "pubsub"
	modeStreams = "streams"
	modeLists   = "lists"
)

// Who sends: our own link on the library's socket, or the library.
const (
	clientLink    = "link"
	clientLibrary = "go-redis"
)

// ways to acknowledge.
var ways = map[string][]string{
	modePubSub:  {""},
	modeStreams: {"", broker.Automatic, broker.PerMessage, broker.PerBatch, broker.PerInterval},
	modeLists:   {"", broker.Automatic, broker.PerMessage},
}

// autoPipeline are go-redis' own values.
var autoPipeline = redis.AutoPipelineOptions{MaxBatchSize: 200, MaxConcurrentBatches: 1}

// maxBulkBytes is the largest string that Redis takes (proto-max-bulk-len).
const maxBulkBytes = 512 << 20

// driverOptions are the driver's own, as runner/brokers/redis/options.ts writes them.
type driverOptions struct {
	// Mode is pubsub (the default), streams or lists.
	Mode string `json:"mode"`
	// Sender is link or go-redis: which one is the default, README.md says why.
	Sender string `json:"client"`
	// Acknowledge of consumers of streams' groups, and of lists (automatic, message); "" is message in a group, automatic without.
	Acknowledge string `json:"acknowledge"`
	// Prefetch is the most messages that a consumer of a stream or list takes at once; default 100.
	Prefetch int `json:"prefetch"`
	// MaxLength is the number of entries to which every XADD trims its stream (MAXLEN ~); 0: never trim. Default: 1 GiB of
	// payload, at least 1000 entries.
	MaxLength *int64 `json:"maxLength"`
	// trims: the scenario asks for trimming.
	trims bool
	// ClaimAfterNs is how long an entry of a stream may go without an acknowledgement before another member gets it; default 30 s.
	ClaimAfterNs int64       `json:"claimAfterNs"`
	TLS          address.TLS `json:"tls"`
}

// decode reads and completes the driver's options.
func decode(o broker.Options) (driverOptions, error) {
	d := driverOptions{Mode: modePubSub, Sender: clientLink, Prefetch: 100, ClaimAfterNs: int64(30 * time.Second)}
	if err := o.Decode(&d); err != nil {
		return d, err
	}
	err := broker.Choose(
		broker.Choice{Name: "mode", Value: d.Mode, Known: []string{modePubSub, modeStreams, modeLists}},
		broker.Choice{Name: "client", Value: d.Sender, Known: []string{clientLink, clientLibrary}},
		broker.Choice{Name: "acknowledge", Value: d.Acknowledge, Known: ways[d.Mode]},
	)
	if err != nil {
		return d, err
	}
	switch {
	case d.Prefetch < 1:
		return d, fmt.Errorf("prefetch must be at least 1, got %d", d.Prefetch)
	case d.MaxLength != nil && *d.MaxLength < 0:
		return d, fmt.Errorf("maxLength must be at least 0, got %d", *d.MaxLength)
	case d.ClaimAfterNs < int64(100*time.Millisecond):
		return d, fmt.Errorf("claimAfter must be at least 100ms, got %s", time.Duration(d.ClaimAfterNs))
	case o.MessageBytes > maxBulkBytes && o.LimitBytes == 0:
		return d, fmt.Errorf("messages of %d bytes are larger than Redis accepts (%d)", o.MessageBytes, maxBulkBytes)
	}
	d.trims = d.MaxLength != nil && *d.MaxLength > 0
	if d.MaxLength == nil {
		length := max(1000, int64(1<<30)/int64(max(o.MessageBytes, 1)))
		d.MaxLength = &length
	}
	return d, nil
}

// UseExisting also refuses to trim the user's own streams.
func (s *session) UseExisting(run string) error {
	if s.trims {
		return fmt.Errorf("redis: maxLength %d trims streams, and these are yours; drop maxLength", *s.MaxLength)
	}
	s.MaxLength = new(int64)
	return s.Part.UseExisting(run)
}

// reach reads the URL: host, user, password, database, TLS. Its errors never contain the URL.
func reach(url string, t address.TLS) (*redis.Options, error) {
	rest := url[strings.LastIndex(url, "@")+1:]
	switch scheme, _, _ := strings.Cut(url, "://"); {
	case url == "":
		return nil, errors.New("the URL is missing")
	case strings.Contains(rest, ","):
		return nil, errors.New("the URL names several hosts; mqbench measures a single Redis server, not a cluster and not sentinels")
	case scheme != "redis" && scheme != "rediss":
		return nil, errors.New("the URL must begin with redis:// or rediss://")
	case strings.Contains(rest, "?"):
		return nil, errors.New("the URL has options after a question mark; mqbench sets all of the library's options itself")
	}
	parsed, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("the URL cannot be read; write redis://user:password@host:6379/0")
	}
	config, err := t.Config()
	if config != nil {
		host, _, _ := net.SplitHostPort(parsed.Addr) // the library has joined them, so this cannot fail
		config.ServerName = cmp.Or(config.ServerName, host)
		parsed.TLSConfig = config
	}
	return parsed, err
}
