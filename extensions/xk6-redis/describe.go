package redis

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Describe reports no acknowledgement for PUBLISH. Its answer is the number of connections that the message was handed to inside of the
// server; 0 is a success, too, and no receipt is promised. An error in its place, or no answer, still fails the message.
func (s *session) Describe() broker.Description {
	return broker.Description{
		Acks: s.Mode != modePubSub, Order: "per-producer", Wildcards: s.Mode == modePubSub, Stores: s.Mode != modePubSub, Replays: s.Mode == modeStreams,
		RedeliversAfter: map[string]time.Duration{modeStreams: time.Duration(s.ClaimAfterNs)}[s.Mode], Server: s.server, Settings: s.settings(),
		Library: map[string]string{clientLink: "mqbench's own link on "}[s.Sender] + "go-redis v" + redis.Version(),
	}
}

// --- internal ---

// acknowledges describes the acknowledgements of members of a stream's group.
var acknowledges = map[string]string{
	broker.Automatic: "none", broker.PerMessage: "each message", broker.PerBatch: "those of one answer",
	broker.PerInterval: "every " + broker.AcknowledgeInterval.String(),
}

func (s *session) settings() map[string]string {
	var set broker.Settings[any]
	set.Print(map[string]any{
		"mode": s.Mode, "connections": s.Connections, "send": s.send(), "confirm": "each message", "batching": "none", "compression": "none",
		"consumers":   "a socket of their own for each subscription (pub/sub: shared by channels of one connection)",
		"flush":       fmt.Sprintf("at once; what comes during a write leaves behind it, up to %d bytes; no write waits for answers", bufferBytes),
		"queueLength": fmt.Sprintf("%d commands waiting and as many unanswered per connection; then Send blocks", s.queueLength),
		"protocol":    fmt.Sprint("RESP", protocol), "db": s.addresses[0].DB, "tls": s.addresses[0].TLSConfig != nil, "identity": "not sent",
		"dialTimeout": connectTimeout, "dialerRetries": "1 (one try)", "reconnectWait": reconnectWait, "maxRetries": "-1 (none)",
		"readTimeout": "none: an answer is waited for", "writeTimeout": "none", "readBufferBytes": bufferBytes, "writeBufferBytes": bufferBytes,
		"poolSize": "1, never dialled anew by the library", "poolTimeout": connectTimeout, "connMaxIdleTime": "none",
		"contextTimeout": fmt.Sprintf("true (of preparing and removing; at most %s a command)", commandTimeout),
		"maintenance":    "notifications disabled", "clientName": "mqbench-*, of each run its own", // which one would be a difference between any two runs
	})
	maps.Copy(set.Printed, s.found)
	if s.Sender == clientLibrary {
		set.Set("flush", fmt.Sprintf("at once; what comes before the answers leaves after them, up to %d commands", autoPipeline.MaxBatchSize))
	}
	if s.cluster {
		topics := make([]int, len(s.shards))
		for _, t := range s.topics {
			topics[t.shard.index]++
		}
		set.Set("cluster", fmt.Sprintf("%d masters, a socket to each per connection; topics on them: %s", len(s.shards), strings.Trim(fmt.Sprint(topics), "[]")))
	}
	switch s.Mode {
	case modePubSub:
		set.Print(map[string]any{
			"confirm": "none: the answer to PUBLISH confirms nothing", "consume": map[bool]string{false: "SUBSCRIBE, PSUBSCRIBE", true: "SSUBSCRIBE"}[s.sharded],
			"acknowledgeAlone": "none", "acknowledgeInGroup": "none: channels have no groups",
			"prefetch": "none: the server pushes; what is not handled waits in the socket",
		})
		return set.Printed
	case modeStreams:
		set.Print(map[string]any{
			"maxLength":        "0 (streams are not trimmed)",
			"consume":          "without a group XREAD; in a group XREADGROUP, XACK",
			"claimAfter":       fmt.Sprintf("%s without an acknowledgement, by XAUTOCLAIM", time.Duration(s.ClaimAfterNs)),
			"acknowledgeAlone": "none: reads from a position of its own", "acknowledgeInGroup": acknowledges[broker.AcknowledgeOf(s.Acknowledge, "g")],
		})
		if *s.MaxLength > 0 {
			set.Set("maxLength", fmt.Sprintf("MAXLEN ~ %d: a consumer that is further behind loses messages", *s.MaxLength))
		}
	case modeLists:
		set.Set("consume", "BLMOVE to a list of the consumer's own (LMOVE for more while there is more), LREM; where nothing is acknowledged BRPOP (RPOP)")
		for name, group := range map[string]string{"acknowledgeAlone": "", "acknowledgeInGroup": "g"} {
			automatic := broker.AcknowledgeOf(s.Acknowledge, group) == broker.Automatic
			set.Set(name, map[bool]string{true: "none", false: "each message, with its payload"}[automatic])
		}
	}
	set.Set("prefetch", fmt.Sprintf("%d messages in an answer, the next ones after these", s.Prefetch))
	return set.Printed
}
