package kafka

import (
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// inTransactions is traffic whose transactions end only with ten messages.
func (s *server) inTransactions(t *testing.T) *brokertest.Traffic {
	t.Helper()
	options := []byte(`{"transactionNs": 600000000000, "transactionMessages": 10}`)
	return brokertest.System{Driver: New, URL: s.url, DriverOptions: options, Timeout: time.Minute}.Traffic(t, "")
}

func TestAMessageIsAcknowledgedAndSeenWhenItsTransactionIsCommitted(t *testing.T) {
	a := running(t).inTransactions(t)
	for range 9 {
		a.Send()
	}
	time.Sleep(300 * time.Millisecond)
	if a.Answered() > 0 || a.Arrived(0) > 0 {
		t.Errorf("%d messages of an open transaction are acknowledged, and the first has arrived %d times", a.Answered(), a.Arrived(0))
	}
	a.Send()
	a.Settles()
	brokertest.Eventually(t, "all arrive", func() bool { return a.Answered() == 10 && a.Arrived(0) == 1 && a.Arrived(9) == 1 })
}

// The broker aborts a transaction that takes too long, and fences its producer.
func TestAProducerThatWasFencedGoesOn(t *testing.T) {
	defer func(usual time.Duration) { transactionTimeout = usual }(transactionTimeout)
	transactionTimeout = time.Second - 10*time.Minute // a second in all
	s := start(t, t.TempDir(), setup{settings: map[string]string{"transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"}})
	a := s.inTransactions(t)
	a.Send()
	time.Sleep(3 * time.Second)
	for range 9 {
		a.Send()
	}
	a.Settles()
	if a.Answered() > 0 {
		t.Errorf("%d messages of an aborted transaction are acknowledged", a.Answered())
	}
	for range 10 {
		a.Send()
	}
	a.Settles()
	brokertest.Eventually(t, "the next transaction arrives", func() bool { return a.Answered() == 10 && a.Arrived(19) == 1 })
	if a.Arrived(0)+a.Arrived(9) > 0 {
		t.Error("messages of the aborted transaction arrive")
	}
}
