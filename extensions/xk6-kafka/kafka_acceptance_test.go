//go:build acceptance

package kafka

import "testing"

// With acks all, the default, TestConformance has it. What becomes of messages with acknowledgements when the broker dies is in
// TestWhatIsSentToABrokerThatDies.
func TestConformanceWithFewerAcknowledgements(t *testing.T) {
	t.Run("acks 1", func(t *testing.T) { conforms(t, `{"acks": "1", "assignor": "cooperative-sticky"}`, nil) })
	t.Run("acks 0", func(t *testing.T) { conforms(t, `{"acks": "0"}`, func(*testing.T) { shared.kill() }) })
}
