// Package brokertest has the tests that every driver passes: the contract of package broker, against a real system.
package brokertest

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// System is the driver under test and the address of its broker.
type System struct {
	Driver broker.Driver
	// URL of a running broker.
	URL string
	// DriverOptions, as JSON; nil if there are none.
	DriverOptions json.RawMessage
	// Durability is the level to ask for; "" means the broker's default.
	Durability string
	// Timeout of a message; 0 means the test's default.
	Timeout time.Duration
	// Partitions: topics may have several.
	Partitions bool
	// NoGroups: subscriptions with a group are refused (a system that only broadcasts).
	NoGroups bool
	// OneMember: a group has one member; several are refused (a log without partitions).
	OneMember bool
	// NoFanOut: a second subscription without a group to the same topic is refused (a plain queue).
	NoFanOut bool
	// NoTakeover: when a consumer dies, its messages are not delivered to another one (a plain list).
	NoTakeover bool
	// Holds is how many messages at least wait in the client library while a consumer is paused; 0 if the driver leaves them with the broker,
	// or cannot count them.
	Holds int64
	// MostBytes is the largest message that the system takes, where that is less than 1 MiB.
	MostBytes int
	// HoldsBack is how long an idle system holds a message back (a transaction), beyond the time that a fast one needs.
	HoldsBack time.Duration
	// FlagsRedelivery: the broker marks a message that it has handed out before.
	FlagsRedelivery bool
	// Exists, if not nil, asks the broker itself, past the driver, whether there is anything left of a topic.
	Exists func(t *testing.T, topic string) bool
	// Make makes a topic past the driver, as its user would, with the given number of partitions. It is nil if a topic exists by being used.
	Make func(t *testing.T, topic string, partitions int)
	// Queues: a topic of Make gives each message to one consumer, old messages too.
	Queues bool
	// Traces, if not nil, asks the broker for the objects that a run of that name has left on the topics (groups, consumers, queues).
	Traces func(t *testing.T, run string, topics []string) []string
	// Broken, if not nil, takes the broker away. Sends must then fail or be lost, and nothing may hang.
	Broken func(t *testing.T)
}

// patience is how long a message may take before it counts as lost; it is long enough for a busy machine. Tests of this suite shorten it.
var patience = 30 * time.Second

// Run puts the driver through the contract. start returns a system for each test. It may always be the same one, except after Broken, which
// is the last test.
func Run(t *testing.T, start func(t *testing.T) System) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, start(t)) })
	}
}

var tests = []struct {
	name string
	run  func(*testing.T, System)
}{
	{"says what it is and what it set, and no secret", describes},
	{"refuses options that it does not know", refusesOptions},
	{"delivers every message once, whole and in order, and calls done once for each", delivers(2000, shape{}, nil)},
	{"delivers every message once, whole and in order, to a group of one", delivers(2000, shape{group: "workers"}, nil)},
	{"carries messages of 1 MiB", delivers(8, shape{bytes: 1 << 20}, nil)},
	{"sends to partitions by number", delivers(300, shape{partitions: 3}, func(m *broker.Message) { m.Partition = int32(m.Index % 3) })},
	{"keeps the order of messages with one key", delivers(500, shape{partitions: 3}, func(m *broker.Message) {
		m.Partition, m.Key = -1, fmt.Appendf(nil, "k%d", m.Index%10)
	})},
	{"does not hold an idle system's message back to batch it", doesNotBatch},
	{"gives every subscription without a group every message", fansOut},
	{"shares the messages of a topic among the members of a group", sharesAmongMembers},
	{"makes many subscriptions at once, by topic and by pattern: each gets its messages, of every connection, from the first one on", subscribesAtOnce},
	{"lets a consumer send from within its handler", func(t *testing.T, s System) { echoes(t, s, 1) }},
	{"loses and drops nothing while a consumer is paused", survivesPause("")},
	{"loses and drops nothing while a member of a group is paused", survivesPause("workers")},
	{"keeps messages for a group that nobody is a member of", keepsForGroup},
	{"delivers again what a member took and did not acknowledge", deliversAgain},
	{"goes on when members of a group leave, are killed and join", membersComeAndGo},
	{"prepares empty topics where there were some of that name", preparesEmpty},
	{"removes what it made and nothing else", removes},
	{"shares topics and groups among the clients of a run, and client 0 removes them", servesClients},
	{"uses topics that were there from their end on, and leaves them there", usesExisting},
	{"reads a topic from its beginning while it is sent to and consumed", replays},
	{"keeps the groups of two runs on one topic apart", keepsRunsApart},
	{"refuses a topic that does not exist and is not to be made", refusesMissing},
	{"opens connections during a run, each with its message, and closes them", opensConnections},
	{"fails a send after Close instead of hanging, and counts as before", failsAfterClose},
	{"fails or loses messages when the broker is gone, and returns", survivesLoss},
}

func describes(t *testing.T, s System) {
	d := open(t, s, shape{}, named("describe")...).session.Describe()
	if d.Library == "" || d.Server == "" || d.Settings == nil {
		t.Errorf("Describe = %+v: library, server and settings must be known after Open", d)
	}
	for _, name := range broker.EachMessage {
		if d.Settings[name] == "" {
			t.Errorf("Describe does not say %q of each message", name)
		}
	}
	if d.Order != "none" && d.Order != "per-producer" {
		t.Errorf("order %q is neither none nor per-producer", d.Order)
	}
	if d.GroupOrder && d.Order == "none" {
		t.Error("a group has an order, a single consumer has none")
	}
	// Also for several URLs in one: nats://user:secret@a:4222,b:4222.
	for _, match := range regexp.MustCompile(`//[^/@,]*?:([^/@,]+)@`).FindAllStringSubmatch(s.URL, -1) {
		if strings.Contains(fmt.Sprintf("%+v", d), match[1]) {
			t.Errorf("the password is in Describe: %+v", d)
		}
	}
}

func refusesOptions(t *testing.T, s System) {
	o := s.options(shape{connections: 1})
	o.Driver = json.RawMessage(`{"noSuchOption": 1}`)
	_, err := s.Driver(o)
	if err == nil {
		t.Error("an unknown option is accepted")
	} else if !strings.Contains(err.Error(), "noSuchOption") {
		t.Errorf("the error %q does not name the option noSuchOption", err)
	}
}

// delivers sends n messages, each as change makes it, or as it is.
func delivers(n int, to shape, change func(*broker.Message)) func(*testing.T, System) {
	return func(t *testing.T, s System) {
		to := to
		if to.group != "" && s.NoGroups {
			t.Skip("the system has no groups")
		}
		if !s.Partitions {
			to.partitions = 1
		}
		if s.MostBytes > 0 {
			to.bytes = min(to.bytes, s.MostBytes)
		}
		to.connections = 2
		r := open(t, s, to, named("order")...)
		consumer := r.consumer(0, nil)
		for i := range int64(n) {
			m := &broker.Message{Name: r.topics[0], Index: i}
			if change != nil {
				change(m)
			}
			m.Partition = min(m.Partition, int32(r.shape.partitions-1))
			r.sendTo(0, m)
		}
		got := r.gets("consumer", n, consumer)
		r.inOrder("consumer", got)
		r.settles()
		for _, m := range got {
			if m.redelivered {
				t.Fatalf("message %d has the flag of a second delivery", m.Sequence)
			}
		}
		acks, last := r.session.Describe().Acks, now()
		for i, d := range r.doneSoFar() {
			if d.times != 1 || d.err != nil {
				t.Fatalf("done of message %d is called %d times, with error %v", i, d.times, d.err)
			}
			if acks && (d.ackNs < d.sentNs || d.ackNs > last) {
				t.Fatalf("message %d is acknowledged at %d, sent at %d, now is %d", i, d.ackNs, d.sentNs, last)
			}
			if !acks && d.ackNs != 0 {
				t.Fatalf("a system without acknowledgements gives the time %d", d.ackNs)
			}
		}
		r.countsNothing()
	}
}

func doesNotBatch(t *testing.T, s System) {
	r := open(t, s, shape{}, named("idle")...)
	to := r.consumer(0, nil)
	// Usual linger times of clients are 5 to 10 ms and more, and delay every message. One message that was faster shows that there is none,
	// so a busy machine gets many tries, and up to 7.5 ms: at a load of 20 on 2 cores the fastest of 300 through Artemis took 5.7 ms.
	const linger = 5 * time.Millisecond
	fastest, limit := time.Hour, time.Duration(float64(linger)*min(1.5, max(1, perCore()/4)))+s.HoldsBack
	for i, began := int64(0), time.Now(); fastest > limit && (i < 300 || time.Since(began) < patience); i++ {
		time.Sleep(50 * time.Millisecond)
		sent := time.Now()
		r.send(0, r.topics[0], i)
		to.wait(int(i) + 1)
		fastest = min(fastest, time.Since(sent))
	}
	if fastest > limit {
		t.Errorf("an idle system takes %s for a message at best: something waits for more of them", fastest)
	}
}

// perCore is how many threads wanted each core in the last minute; 0 where the system does not say.
func perCore() float64 {
	said, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(said), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load / float64(runtime.NumCPU())
}

func failsAfterClose(t *testing.T, s System) {
	r := open(t, s, shape{}, named("closed")...)
	to := r.consumer(0, nil)
	r.send(0, r.topics[0], 0)
	to.wait(1)
	r.settles()
	r.remove()
	r.within("Close", r.close)
	r.countsNothing()
	r.within("a send after Close", func() { r.send(0, r.topics[0], 1) })
	r.eventually(func() bool { return r.doneSoFar()[1].err != nil }, func() string { return "a send after Close fails" })
}

func survivesLoss(t *testing.T, s System) {
	if s.Broken == nil {
		t.Skip("nothing here takes the broker away")
	}
	r := open(t, s, shape{}, named("loss")...)
	to := r.consumer(0, nil)
	r.send(0, r.topics[0], 0)
	to.wait(1)
	s.Broken(t)
	failed := func() bool { return r.ended(func(err error) bool { return err != nil }) > 0 }
	i := int64(0)
	r.within("a send without a broker", func() {
		for deadline := time.Now().Add(patience / 2); !failed() && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			i++
			r.send(0, r.topics[0], i)
		}
	})
	if !failed() {
		t.Errorf("none of %d sends without a broker fails within %s, the timeout is 5 s", i, patience/2)
	}
	r.within("Close without a broker", r.close)
	r.settles()
	for i, d := range r.doneSoFar() {
		if d.times > 1 {
			t.Fatalf("done of message %d is called %d times", i, d.times)
		}
	}
}
