package redis

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// blockFor is how long a consumer's command waits on the server before the consumer looks for what others have left. A message that
// comes meanwhile is handed over at once.
const blockFor = time.Second

// consumer reads one stream or list on a socket of its own, since a command that waits occupies it.
type consumer struct {
	s      *session
	line   *line
	topic  *topic
	handle broker.Handler
	// group is nil for a stream reader without a group, whose messages are not acknowledged.
	group *group
	// name within the group: the session's, and a number.
	name string
	// acknowledge is when; done are entries of a stream that were handled since ackedNs, when the last ones were acknowledged.
	acknowledge string
	done        []string
	ackedNs     int64
	// last entry that a reader without a group has received.
	last string
	// want is how many messages a consumer of a list takes at once; it grows while there are more.
	want    int
	handled atomic.Int64
}

// fetched is one message as it arrived; id is what it is acknowledged by.
type fetched struct{ id, payload string }

// group is what the members in this session share.
type group struct {
	name string
	// from is the id in the stream after which the group starts.
	from string
	// nextNs is when one of them next looks for what others have left.
	nextNs  atomic.Int64
	handled atomic.Int64
	trimmed sync.Once
}

// newConsumer makes a consumer that is not running yet; g is nil without a group.
func (s *session) newConsumer(to broker.Subscription, handle broker.Handler, g *group) *consumer {
	s.consuming.Lock()
	s.consumers++
	number := s.consumers
	s.consuming.Unlock()
	c := &consumer{
		s: s, line: s.lines[to.Connection], handle: handle, group: g, want: 1, last: "0-0", ackedNs: s.Now(),
		name: s.name + "." + strconv.Itoa(number), topic: s.named[to.Topic], acknowledge: broker.AcknowledgeOf(s.Acknowledge, to.Group),
	}
	if c.topic == nil {
		c.topic = &topic{name: to.Topic} // a bystander's topic: nothing is sent to it
	}
	return c
}

// run calls step until the session ends; fresh says that the socket is a new one.
func (c *consumer) run(k *socket, step func(k *socket, fresh bool) error) {
	fresh := false
	for !c.s.IsQuiet() {
		err := step(k, fresh)
		switch {
		case err == nil:
			fresh = false
		case c.s.IsQuiet():
			return
		case refused(err):
			c.s.Report("", err)
			time.Sleep(reconnectWait)
		default:
			if k = c.s.again(k, err, c.s.redial); k == nil {
				return
			}
			fresh = true
		}
	}
}

// take passes messages, which arrived at atNs, to the handler and acknowledges each; again says that they were delivered before. A member
// of a group takes one after the other: a message that waits here behind slow work has not been received yet.
func (c *consumer) take(list []fetched, atNs int64, again bool) {
	if c.group != nil {
		c.s.fetched.Add(int64(len(list)))
	}
	for i, m := range list {
		if c.s.Over.Err() != nil {
			return
		}
		if c.group != nil {
			c.s.fetched.Add(-1)
			if i > 0 {
				atNs = c.s.Now()
			}
		}
		c.handle(broker.Delivery{ReceivedNs: atNs, Payload: bytesOf(m.payload), Redelivered: again})
		if c.group == nil {
			c.handled.Add(1)
			continue
		}
		c.group.handled.Add(1)
		if c.s.Over.Err() == nil {
			c.acknowledgeOne(m)
		}
	}
	if c.acknowledge == broker.PerBatch {
		c.settle()
	}
}

// --- internal ---

func (c *consumer) acknowledgeOne(m fetched) {
	if c.acknowledge == broker.Automatic {
		return
	}
	if c.s.mode == modeLists {
		c.line.send(entry{key: c.taken(), value: m.payload})
		return
	}
	c.done = append(c.done, m.id)
	if c.acknowledge == broker.PerMessage {
		c.settle()
	}
	c.settleInTime()
}

func (c *consumer) settleInTime() {
	if c.acknowledge == broker.PerInterval && c.s.Now()-c.ackedNs >= int64(broker.AcknowledgeInterval) {
		c.settle()
	}
}

// settle acknowledges what was handled of a stream.
func (c *consumer) settle() {
	if len(c.done) > 0 {
		c.line.send(entry{key: c.topic.name, group: c.group.name, ids: c.done})
	}
	c.done, c.ackedNs = nil, c.s.Now()
}

// due reports, once for all members of a group, that it is time to look for what others have left.
func (c *consumer) due() bool {
	nowNs := c.s.Now()
	next := c.group.nextNs.Load()
	return nowNs >= next && c.group.nextNs.CompareAndSwap(next, nowNs+c.s.ClaimAfterNs/3)
}

// textOf reads a string from an answer.
func textOf(value any) string {
	text, _ := value.(string)
	return text
}

// nothing reports whether a command that waits returned without a result.
func nothing(err error) bool { return errors.Is(err, redis.Nil) }
