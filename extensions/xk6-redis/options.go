package redis

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// What a message goes through in Redis.
const (
	modePubSub  = "pubsub"
	modeStreams = "streams"
	modeLists   = "lists"
)

// maxBulkBytes is the largest string that Redis takes (proto-max-bulk-len).
const maxBulkBytes = 512 << 20

// driverOptions are the driver's own, as the scenario's broker file writes them.
type driverOptions struct {
	// Mode is pubsub (the default), streams or lists.
	Mode string `json:"mode"`
	// Prefetch is the most messages that a consumer of a stream or list takes at once; default 100.
	Prefetch int `json:"prefetch"`
	// MaxLength is the number of entries to which every XADD trims its stream (MAXLEN ~); 0: never trim. Default: 1 GiB of
	// payload, at least 1000 entries.
	MaxLength *int64 `json:"maxLength"`
	// ClaimAfterNs is how long a process must be silent before the others take over what it has not acknowledged; default 3 s.
	ClaimAfterNs int64       `json:"claimAfterNs"`
	TLS          *tlsOptions `json:"tls"`
}

type tlsOptions struct {
	CA         string `json:"ca"`
	Cert       string `json:"cert"`
	Key        string `json:"key"`
	ServerName string `json:"serverName"`
	Insecure   bool   `json:"insecure"`
}

// decode reads and completes the driver's options.
func decode(o broker.Options) (driverOptions, error) {
	d := driverOptions{Mode: modePubSub, Prefetch: 100, ClaimAfterNs: int64(3 * time.Second)}
	if err := o.Decode(&d); err != nil {
		return d, err
	}
	switch {
	case d.Mode != modePubSub && d.Mode != modeStreams && d.Mode != modeLists:
		return d, fmt.Errorf("mode %q is neither pubsub, streams nor lists", d.Mode)
	case d.Prefetch < 1:
		return d, fmt.Errorf("prefetch must be at least 1, got %d", d.Prefetch)
	case d.MaxLength != nil && *d.MaxLength > 0 && o.Run != "":
		return d, fmt.Errorf("maxLength %d trims streams, and these are yours; leave it away", *d.MaxLength)
	case d.MaxLength != nil && *d.MaxLength < 0:
		return d, fmt.Errorf("maxLength must be at least 0, got %d", *d.MaxLength)
	case d.ClaimAfterNs < int64(100*time.Millisecond):
		return d, fmt.Errorf("claimAfter must be at least 100ms, got %s", time.Duration(d.ClaimAfterNs))
	case o.MessageBytes > maxBulkBytes:
		return d, fmt.Errorf("messages of %d bytes are above the %d that Redis takes", o.MessageBytes, maxBulkBytes)
	}
	if d.MaxLength == nil && o.Run != "" {
		d.MaxLength = new(int64) // a stream of the user's own is never trimmed
	}
	if d.MaxLength == nil {
		length := max(1000, int64(1<<30)/int64(max(o.MessageBytes, 1)))
		d.MaxLength = &length
	}
	return d, nil
}

// address reads the URL: host, user, password, database, TLS. It never puts the URL into an error.
func address(url string, t *tlsOptions) (*redis.Options, error) {
	if url == "" {
		return nil, errors.New("there is no URL of a server")
	}
	rest := url[strings.LastIndex(url, "@")+1:]
	if strings.Contains(rest, ",") {
		return nil, errors.New("the URL names several hosts; mqbench measures one Redis server, no cluster and no sentinels")
	}
	scheme, _, _ := strings.Cut(url, "://")
	if scheme != "redis" && scheme != "rediss" {
		return nil, errors.New("the URL must begin with redis:// or rediss://")
	}
	if strings.Contains(rest, "?") {
		return nil, errors.New("the URL has options after a question mark; mqbench sets all of the library's options itself")
	}
	parsed, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("the URL cannot be read; write redis://user:password@host:6379/0")
	}
	if t == nil {
		return parsed, nil
	}
	if parsed.TLSConfig == nil {
		host, _, _ := net.SplitHostPort(parsed.Addr) // the library has joined it
		parsed.TLSConfig = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	return parsed, t.apply(parsed.TLSConfig)
}

// --- internal ---

func (t *tlsOptions) apply(config *tls.Config) error {
	if t.ServerName != "" {
		config.ServerName = t.ServerName
	}
	config.InsecureSkipVerify = t.Insecure
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return fmt.Errorf("tls.ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("tls.ca: %s holds no certificate", t.CA)
		}
	}
	if t.Cert == "" && t.Key == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return fmt.Errorf("tls.cert and tls.key: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return nil
}
