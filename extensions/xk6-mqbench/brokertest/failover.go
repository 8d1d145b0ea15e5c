package brokertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Cluster is a driver under test and three nodes of its broker, which must deliver everything that they have acknowledged.
type Cluster struct {
	System
	// Replicas of the topic. With one replica the topic is unavailable as long as its node.
	Replicas int
	// Pause freezes the node of that name and returns the function that thaws it; nil if the node is only killed.
	Pause func(t *testing.T, node string) (thaw func())
	// Kill ends the node of that name as a crash does, and returns the function that starts it again, or nil if others have copies.
	Kill func(t *testing.T, node string) (restart func())
	// Kills is how many leaders are killed, one after the other; 0 means one.
	Kills int
}

const (
	failoverRate = 500
	pauseLasts   = 2 * time.Second
	// failoverSenders are the connections that send, one for each node; the next three consume.
	failoverSenders = 3
)

// Failover sends 500 messages a second while the node that leads their topic is frozen for two seconds and then killed. The driver has to
// go on with the other nodes, report the fate of each message truthfully, and never block.
func Failover(t *testing.T, c Cluster) {
	topic := named("failover")[0]
	consumers := append(alone(topic, failoverSenders), members(topic, "workers", failoverSenders+1, failoverSenders+2)...)
	r := open(t, c.System, shape{connections: 2 * failoverSenders, replicas: c.Replicas, consumers: consumers}, topic)
	f := &failover{rig: r, subscribers: r.consume(nil), over: make(chan struct{}), ended: make(chan struct{})}
	go f.send()
	f.flows("at first")
	if c.Pause != nil {
		thaw := c.Pause(t, f.leader())
		time.Sleep(pauseLasts)
		thaw()
		f.flows("after a pause of the leader")
	}
	for range max(1, c.Kills) {
		f.kill(t, c)
	}
	f.end()
	f.compare()
	r.within("Remove", r.remove)
	r.within("Close", r.close)
}

// --- internal ---

// failover is the load and its result.
type failover struct {
	rig *rig
	// subscribers: first the one that gets everything, then the members of the group.
	subscribers []*subscription
	sent        atomic.Int64
	longestNs   atomic.Int64
	over, ended chan struct{}
}

// kill takes the leader away and waits until messages flow again, with or without it.
func (f *failover) kill(t *testing.T, c Cluster) {
	t.Helper()
	killed := f.leader()
	restart := c.Kill(t, killed)
	if c.Replicas == 1 {
		time.Sleep(time.Second)
		restart()
		f.flows("with the leader started again")
		return
	}
	f.flows("without the leader")
	if now := f.leader(); now == killed {
		t.Errorf("%s was killed, and Leader says that it leads", killed)
	}
	if restart != nil {
		restart()
		f.flows("with all nodes again")
	}
}

func (f *failover) send() {
	defer close(f.ended)
	topic := f.rig.topics[0]
	for began, i := time.Now(), int64(0); ; i++ {
		select {
		case <-f.over:
			return
		case <-time.After(time.Until(began.Add(time.Duration(i) * time.Second / failoverRate))):
		}
		called := time.Now()
		f.rig.send(int(i%failoverSenders), topic, i)
		f.longestNs.Store(max(f.longestNs.Load(), int64(time.Since(called))))
		f.sent.Store(i + 1)
	}
}

// flows waits until messages that are sent from now on, on every connection, are acknowledged and arrive everywhere.
func (f *failover) flows(when string) {
	f.rig.t.Helper()
	began, from := time.Now(), f.sent.Load()
	f.rig.eventually(func() bool {
		acked := [failoverSenders]bool{}
		for i, d := range f.rig.doneSoFar()[from:] {
			at := &acked[(from+int64(i))%failoverSenders]
			*at = *at || d.times > 0 && d.err == nil
		}
		return !slices.Contains(acked[:], false) && !slices.ContainsFunc(f.received(), func(got map[uint64]int) bool {
			return len(got) == 0 || int64(slices.Max(slices.Collect(maps.Keys(got)))) < from
		})
	}, func() string { return "messages flow " + when })
	f.rig.t.Logf("messages flow %s after %s", when, time.Since(began).Round(10*time.Millisecond))
}

// received is how often each message arrived at the subscriber, and how often at the group.
func (f *failover) received() []map[uint64]int {
	times := []map[uint64]int{{}, {}}
	for k, one := range f.subscribers {
		for _, m := range one.receipts() {
			times[min(k, 1)][m.Sequence]++
		}
	}
	return times
}

func (f *failover) leader() (name string) {
	f.rig.t.Helper()
	finder, able := f.rig.session.(broker.LeaderFinder)
	if !able {
		f.rig.t.Fatal("the driver cannot say who leads a topic")
	}
	f.rig.eventually(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		var err error
		name, err = finder.Leader(ctx, f.rig.topics[0])
		return err == nil
	}, func() string { return "the topic has a leader" })
	return name
}

// end stops the load and waits until every send is completed.
func (f *failover) end() {
	close(f.over)
	f.rig.within("a send", func() { <-f.ended })
	if longest := time.Duration(f.longestNs.Load()); longest > usualTimeout {
		f.rig.t.Errorf("a send call took %s; a message has %s", longest, usualTimeout)
	}
	f.rig.settles()
}

// compare compares the driver's report of each message with the arrivals.
func (f *failover) compare() {
	t, fates := f.rig.t, f.rig.doneSoFar()
	said := map[string]int{}
	for i, d := range fates {
		if d.times != 1 {
			t.Errorf("done of message %d is called %d times", i, d.times)
		}
		said[fmt.Sprint("error: ", d.err)]++
	}
	t.Logf("of %d messages: %v", len(fates), said)
	count := func(k int) (missing, lies, twice int) {
		times := f.received()[k]
		for i, d := range fates {
			n := times[uint64(i)]
			switch {
			case d.err == nil && n == 0:
				missing++
			case d.err != nil && !errors.Is(d.err, broker.ErrUnknown) && n > 0:
				lies++
			}
			if n > 1 {
				twice++
			}
		}
		return missing, lies, twice
	}
	for k, who := range []string{"the subscriber", "the group"} {
		missing := 0
		f.rig.eventually(func() bool { missing, _, _ = count(k); return missing == 0 }, func() string {
			return fmt.Sprintf("%s gets what was acknowledged; it misses %d messages", who, missing)
		})
		settled()
		_, lies, twice := count(k)
		if lies > 0 {
			t.Errorf("%s gets %d messages of which it is said that they failed", who, lies)
		}
		// In a group, messages that were delivered and not acknowledged are delivered again.
		if twice > 0 && k == 0 {
			t.Errorf("%s gets %d messages twice", who, twice)
		}
		t.Logf("%s gets %d messages twice", who, twice)
	}
	f.rig.inOrder("the subscriber", f.subscribers[0].receipts())
}
