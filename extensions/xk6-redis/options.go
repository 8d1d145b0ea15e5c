package redis

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Redis's data types for messages.
const (
	modePubSub  = "pubsub"
	modeStreams = "streams"
	modeLists   = "lists"
)

// The sender: our own link on the library's socket, or the library.
const (
	clientLink    = "link"
	clientLibrary = "go-redis"
)

// autoPipeline are go-redis' own values.
var autoPipeline = redis.AutoPipelineOptions{MaxBatchSize: 200, MaxConcurrentBatches: 1}

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[driverOptions](defaultsText)

// driverOptions are the driver's own, as runner/brokers/redis/index.ts describes and writes them.
type driverOptions struct {
	Mode string `json:"mode" known:"pubsub streams lists"`
	// Sender is link by default: README.md explains why.
	Sender string `json:"client" known:"link go-redis"`
	// Acknowledge of consumers of streams' groups, and of lists (automatic, message); "" is message in a group, automatic without.
	Acknowledge string `json:"acknowledge" known:"automatic message batch interval"`
	Prefetch    int    `json:"prefetch"`
	// MaxLength 0 means never; nil 1 GiB of payload, at least 1000 entries.
	MaxLength    *int64      `json:"maxLength"`
	ClaimAfterNs int64       `json:"claimAfterNs"`
	TLS          address.TLS `json:"tls"`
}

func decode(o broker.Options) (driverOptions, error) {
	d := defaults
	if err := o.Decode(&d); err != nil {
		return d, err
	}
	if o.Run != "" { // the user's streams are not trimmed
		d.MaxLength = new(int64)
	} else if d.MaxLength == nil {
		d.MaxLength = new(max(1000, int64(1<<30)/int64(max(o.MessageBytes, 1))))
	}
	return d, nil
}

// reach reads the URL: hosts, user, password, database, TLS; or a Unix socket. Its errors never contain the URL.
func reach(url string, t address.TLS) (all []*redis.Options, err error) {
	scheme, _, _ := strings.Cut(url, "://")
	for _, one := range strings.Split(strings.TrimPrefix(url, scheme+"://"), ","+scheme+"://") {
		begin := strings.LastIndex(one, "@") + 1
		if strings.Contains(one[begin:], "?") {
			return nil, errors.New("the URL has options after a question mark; mqbench sets all of the library's options itself")
		}
		for host := range strings.SplitSeq(one[begin:], ",") {
			parsed, err := redis.ParseURL(scheme + "://" + one[:begin] + host)
			if err != nil {
				return nil, errors.New("the URL cannot be read; write redis://user:password@host:6379/0")
			}
			config, err := t.Config()
			if err != nil {
				return nil, err
			}
			if config != nil {
				name, _, _ := net.SplitHostPort(parsed.Addr) // "" of a socket
				config.ServerName = cmp.Or(config.ServerName, name)
				parsed.TLSConfig = config
			}
			all = append(all, parsed)
		}
	}
	return all, nil
}

// send is the command that sends.
func (s *session) send() string {
	if s.sharded && s.Mode == modePubSub {
		return "SPUBLISH"
	}
	return map[string]string{modePubSub: "PUBLISH", modeStreams: "XADD", modeLists: "LPUSH"}[s.Mode]
}

// commandTo is the beginning of the command that sends to a topic. An entry of a stream has its payload in "p", and its key in "k".
func (s *session) commandTo(topic string) [][]byte {
	switch {
	case s.Mode != modeStreams:
		return words(s.send(), topic)
	case *s.MaxLength > 0:
		return words(s.send(), topic, "MAXLEN", "~", strconv.FormatInt(*s.MaxLength, 10), "*", "p")
	}
	return words(s.send(), topic, "*", "p")
}

// command of an entry, appended to list.
func (s *session) command(list [][]byte, e entry) [][]byte {
	if e.m == nil {
		return append(list, e.ack...)
	}
	list = append(append(list, s.topics[e.m.Topic].command...), e.m.Payload)
	if s.Mode == modeStreams && e.m.Key != nil {
		list = append(list, bytesOf("k"), e.m.Key)
	}
	return list
}

// encode writes a command in the Redis protocol. Errors stay in w, for Flush.
func encode(w *bufio.Writer, command [][]byte) {
	number(w, '*', len(command))
	for _, word := range command {
		number(w, '$', len(word))
		_, _ = w.Write(word)
		_, _ = w.WriteString("\r\n")
	}
}

// readAnswer reads the answer to one command that answers with an integer, a string or a refusal.
func readAnswer(r *bufio.Reader) (integer int64, refusal, err error) {
	head, err := r.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	rest := bytes.TrimRight(head[1:], "\r\n")
	switch head[0] {
	case '-':
		return 0, errors.New(string(rest)), nil
	case ':':
		integer, err = strconv.ParseInt(string(rest), 10, 64)
		return integer, nil, err
	case '$':
		length, err := strconv.Atoi(string(rest))
		if err == nil && length >= 0 {
			_, err = r.Discard(length + 2)
		}
		return 0, nil, err
	}
	return 0, nil, fmt.Errorf("an answer that begins with %q", head[0])
}

// --- internal ---

func words(list ...string) (command [][]byte) {
	for _, word := range list {
		command = append(command, bytesOf(word))
	}
	return command
}

func number(w *bufio.Writer, kind byte, n int) {
	_ = w.WriteByte(kind)
	_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), int64(n), 10))
	_, _ = w.WriteString("\r\n")
}
