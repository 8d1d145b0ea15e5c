package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// find checks whether existing topics are what the mode needs. Channels and empty lists have no key, so there is nothing to find.
func (s *session) find(ctx context.Context) error {
	if s.mode == modePubSub {
		return nil
	}
	var kinds []*redis.StatusCmd
	if err := s.each(ctx, func(p redis.Pipeliner, t *topic) { kinds = append(kinds, p.Type(ctx, t.name)) }); err != nil {
		return fmt.Errorf("look up topics: %w", err)
	}
	want := map[string]string{modeStreams: "stream", modeLists: "list"}[s.mode]
	for i, kind := range kinds {
		switch name := s.topics[i].name; {
		case kind.Val() == want, kind.Val() == "none" && s.mode == modeLists:
		case kind.Val() == "none":
			return broker.MissingTopic(name, "there is no stream of this key")
		default:
			return fmt.Errorf("topic %s is a key of type %s, and mode %s needs a %s; name another topic, or choose another mode", name, kind.Val(), s.mode, want)
		}
	}
	return nil
}

// leave removes what consumers have made on topics that stay: groups, which clients share and client 0 removes, and the notes of list
// members. Messages that those have taken and not finished go back.
func (s *session) leave(ctx context.Context) error {
	if s.Run != "" && s.mode == modeLists {
		deadline.AtMost(endTimeout, s.running.Wait)
		for _, c := range s.members {
			if err := s.ask(ctx, func(k *socket) error { return c.giveBack(ctx, k) }); err != nil {
				return err
			}
		}
	}
	if s.Run != "" && s.mode == modeStreams && s.Client == 0 {
		for _, g := range s.names() {
			err := s.each(ctx, func(p redis.Pipeliner, t *topic) { p.XGroupDestroy(ctx, t.name, g) })
			if err != nil && !refused(err) { // a stream that is gone has no groups
				return err
			}
		}
	}
	return nil
}

// untouched refuses a list of the user's own that holds messages: consuming would take them away.
func (c *consumer) untouched(ctx context.Context, k *socket) error {
	if c.s.Run == "" {
		return nil
	}
	n, err := k.client.LLen(ctx, c.topic.name).Result()
	if err == nil && n > 0 {
		return fmt.Errorf("it holds %d messages, which consumers of this run would take away; empty it first, or name another list", n)
	}
	return err
}

// Describe: the answer to PUBLISH is not an acknowledgement. It is the number of connections that the message was handed to inside of the
// server; 0 is a success, too, and no receipt is promised. An error in its place, or no answer, still fails the message.
func (s *session) Describe() broker.Description {
	return broker.Description{
		Acks:            s.mode != modePubSub,
		Order:           "per-producer",
		Wildcards:       s.mode == modePubSub,
		Stores:          s.mode != modePubSub,
		RedeliversAfter: map[string]time.Duration{modeStreams: time.Duration(s.ClaimAfterNs)}[s.mode],
		Library:         map[string]string{clientLink: "mqbench's own link on "}[s.Sender] + "go-redis v" + redis.Version(),
		Server:          s.server["name"],
		Settings:        s.settings(),
	}
}

// --- internal ---

// endTimeout is how long consumers may take to end: a command that waits on the server, and a little more.
const endTimeout = 2 * blockFor

// giveBack returns what a member took and did not finish to where it came from, in the old order, and forgets the member.
func (c *consumer) giveBack(ctx context.Context, k *socket) error {
	for {
		err := k.client.LMove(ctx, c.taken(), c.topic.name, "LEFT", "RIGHT").Err()
		if errors.Is(err, redis.Nil) {
			return k.client.SRem(ctx, c.enrolled(), c.name).Err()
		}
		if err != nil {
			return err
		}
	}
}

// names of the groups of members here.
func (s *session) names() []string {
	var list []string
	for _, g := range s.groups {
		list = append(list, g.name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// acknowledges says what members of a stream's group send.
var acknowledges = map[string]string{
	broker.Automatic: "none", broker.PerMessage: "each message", broker.PerBatch: "those of one answer",
	broker.PerInterval: "every " + broker.AcknowledgeInterval.String(),
}

func (s *session) settings() map[string]string {
	set := map[string]string{
		"mode":             s.mode,
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

		"server appendonly":  s.server["appendonly"],
		"server appendfsync": s.server["appendfsync"],
		"server save":        s.server["save"],
	}
	if s.Sender == clientLibrary {
		set["flush"] = fmt.Sprintf("at once; what comes before the answers leaves after them, up to %d commands", autoPipeline.MaxBatchSize)
	}
	switch s.mode {
	case modePubSub:
		set["send"], set["confirm"] = "PUBLISH", "none: the answer to PUBLISH confirms nothing"
		set["acknowledgeAlone"], set["acknowledgeInGroup"] = "none", "none: channels have no groups"
		set["prefetch"] = "none: the server pushes; what is not handled waits in the socket"
		set["consume"] = "SUBSCRIBE, PSUBSCRIBE"
		set["server client-output-buffer-limit"] = s.server["client-output-buffer-limit"]
	case modeStreams:
		set["send"] = "XADD"
		set["maxLength"] = "0 (streams are not trimmed)"
		if *s.MaxLength > 0 {
			set["maxLength"] = fmt.Sprintf("MAXLEN ~ %d: a consumer that is further behind loses messages", *s.MaxLength)
		}
		set["consume"] = "without a group XREAD; in a group XREADGROUP, XACK"
		set["claimAfter"] = fmt.Sprintf("%s without an acknowledgement, by XAUTOCLAIM", time.Duration(s.ClaimAfterNs))
		set["acknowledgeAlone"], set["acknowledgeInGroup"] = "none: reads from a position of its own", acknowledges[broker.AcknowledgeOf(s.Acknowledge, "g")]
	case modeLists:
		set["send"] = "LPUSH"
		set["consume"] = "BLMOVE to a list of the consumer's own (LMOVE for more while there is more), LREM; where nothing is acknowledged BRPOP (RPOP)"
		set["acknowledgeAlone"], set["acknowledgeInGroup"] = "none", "none"
		if broker.AcknowledgeOf(s.Acknowledge, "") != broker.Automatic {
			set["acknowledgeAlone"] = "each message, with its payload"
		}
		if broker.AcknowledgeOf(s.Acknowledge, "g") != broker.Automatic {
			set["acknowledgeInGroup"] = "each message, with its payload"
		}
	}
	if s.mode != modePubSub {
		set["prefetch"] = fmt.Sprintf("%d messages in an answer, the next ones after these", s.Prefetch)
	}
	return set
}
