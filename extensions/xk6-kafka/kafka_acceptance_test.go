//go:build acceptance

package kafka

import "testing"

// TestConformance tests acks all and 0. TestWhatIsSentToABrokerThatDies tests the fate of messages with acknowledgements when the broker
// dies.
func TestConformanceWithTheLeadersAcknowledgement(t *testing.T) {
	conforms(t, `{"acks": "1", "assignor": "cooperative-sticky"}`, nil)
}
