package kafka

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

func TestAQuotaOfTheBrokerIsTimeThatItThrottles(t *testing.T) {
	s := running(t)
	id := "mqbench-producer-0"
	quota := func(remove bool) {
		entry := kadm.AlterClientQuotaEntry{
			Entity: kadm.ClientQuotaEntity{{Type: "client-id", Name: &id}},
			Ops:    []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 1000, Remove: remove}},
		}
		if _, err := s.admin(t).AlterClientQuotas(t.Context(), []kadm.AlterClientQuotaEntry{entry}); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, broker.Options{URL: s.url}, false)
	b.send()
	b.until("the message is acknowledged", func() bool { return b.acked == 1 })
	if ns := *broker.ThrottledNs(b.session); ns != 0 {
		t.Errorf("without a quota the broker throttled for %d ns", ns)
	}
	quota(false)
	defer quota(true)
	b.until("the quota throttles for a second", func() bool {
		for range 20 {
			b.producer.Send(&broker.Message{Name: b.topic, Payload: make([]byte, 100)}, func(*broker.Message, int64, error) {})
		}
		time.Sleep(20 * time.Millisecond)
		return *broker.ThrottledNs(b.session) > int64(time.Second)
	})
}
