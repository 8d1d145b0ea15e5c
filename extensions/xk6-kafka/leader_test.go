package kafka

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Messages that are tried once make the library look for the new leader as those that it tries again do.
func TestWhatIsTriedOnceGoesToTheNewLeader(t *testing.T) {
	nodes, url := three(t)
	b := open(t, broker.Options{
		URL: url, Replicas: 3, Driver: []byte(`{"acks": "1"}`), TimeoutNs: int64(5 * time.Second),
	}, false)
	b.send()
	b.until("the first message is acknowledged", func() bool { return b.acked == 1 })
	leader, err := b.session.(broker.LeaderFinder).Leader(t.Context(), b.topic)
	if err != nil {
		t.Fatal(err)
	}
	nodes[leader].kill()
	acked := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.acked
	}
	for deadline := time.Now().Add(time.Minute); acked() < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no message has reached the new leader within a minute")
		}
		b.send()
	}
}
