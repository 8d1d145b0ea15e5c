package redis

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Describe: the answer to PUBLISH is not an acknowledgement. It is the number of connections that the message was handed to inside of the
// server; 0 is a success, too, and no receipt is promised. An error in its place, or no answer, still fails the message.
func (s *session) Describe() broker.Description {
	return broker.Description{
		Acks:            s.Mode != modePubSub,
		Order:           "per-producer",
		Wildcards:       s.Mode == modePubSub,
		Stores:          s.Mode != modePubSub,
		RedeliversAfter: map[string]time.Duration{modeStreams: time.Duration(s.ClaimAfterNs)}[s.Mode],
		Library:         map[string]string{clientLink: "mqbench's own link on "}[s.Sender] + "go-redis v" + redis.Version(),
		Server:          s.server,
		Settings:        s.settings(),
	}
}

// --- internal ---

// acknowledges says what members of a stream's group send.
var acknowledges = map[string]string{
	broker.Automatic: "none", broker.PerMessage: "each message", broker.PerBatch: "those of one answer",
	broker.PerInterval: "every " + broker.AcknowledgeInterval.String(),
}

func (s *session) settings() map[string]string {
	set := map[string]string{
		"mode":             s.Mode,
		"connections":      strconv.Itoa(s.Connections),
		"consumers":        "a socket of their own for each subscription (pub/sub: shared by channels of one connection)",
		"protocol":         "RESP" + strconv.Itoa(protocol),
		"confirm":          "each message",
		"flush":            "at once; what comes during a write leaves behind it, up to " + strconv.Itoa(bufferBytes) + " bytes; no write waits for answers",
		"batching":         "none",
		"compression":      "none",
		"queueLength":      strconv.Itoa(s.queueLength) + " commands waiting and as many unanswered per connection; then Send blocks",
		"dialTimeout":      connectTimeout.String(),
		"readTimeout":      "none: an answer is waited for",
		"writeTimeout":     "none",
		"maxRetries":       "-1 (none)",
		"reconnectWait":    reconnectWait.String(),
		"readBufferBytes":  strconv.Itoa(bufferBytes),
		"writeBufferBytes": strconv.Itoa(bufferBytes),
		"poolSize":         "1, never dialled anew by the library",
		"poolTimeout":      connectTimeout.String(),
		"dialerRetries":    "1 (one try)",
		"connMaxIdleTime":  "none",
		"contextTimeout":   "true (of preparing and removing; at most " + commandTimeout.String() + " a command)",
		"identity":         "not sent",
		"maintenance":      "notifications disabled",
		"clientName":       "mqbench-*, of each run its own", // which one would be a difference between any two runs
		"tls":              strconv.FormatBool(s.address.TLSConfig != nil),
		"db":               strconv.Itoa(s.address.DB),
	}
	maps.Copy(set, s.found)
	if s.Sender == clientLibrary {
		set["flush"] = fmt.Sprintf("at once; what comes before the answers leaves after them, up to %d commands", autoPipeline.MaxBatchSize)
	}
	set["send"] = sends[s.Mode]
	switch s.Mode {
	case modePubSub:
		set["confirm"] = "none: the answer to PUBLISH confirms nothing"
		set["acknowledgeAlone"], set["acknowledgeInGroup"] = "none", "none: channels have no groups"
		set["prefetch"] = "none: the server pushes; what is not handled waits in the socket"
		set["consume"] = "SUBSCRIBE, PSUBSCRIBE"
	case modeStreams:
		set["maxLength"] = "0 (streams are not trimmed)"
		if *s.MaxLength > 0 {
			set["maxLength"] = fmt.Sprintf("MAXLEN ~ %d: a consumer that is further behind loses messages", *s.MaxLength)
		}
		set["consume"] = "without a group XREAD; in a group XREADGROUP, XACK"
		set["claimAfter"] = fmt.Sprintf("%s without an acknowledgement, by XAUTOCLAIM", time.Duration(s.ClaimAfterNs))
		set["acknowledgeAlone"], set["acknowledgeInGroup"] = "none: reads from a position of its own", acknowledges[broker.AcknowledgeOf(s.Acknowledge, "g")]
	case modeLists:
		set["consume"] = "BLMOVE to a list of the consumer's own (LMOVE for more while there is more), LREM; where nothing is acknowledged BRPOP (RPOP)"
		for name, group := range map[string]string{"acknowledgeAlone": "", "acknowledgeInGroup": "g"} {
			set[name] = map[bool]string{true: "none", false: "each message, with its payload"}[broker.AcknowledgeOf(s.Acknowledge, group) == broker.Automatic]
		}
	}
	if s.Mode != modePubSub {
		set["prefetch"] = fmt.Sprintf("%d messages in an answer, the next ones after these", s.Prefetch)
	}
	return set
}
