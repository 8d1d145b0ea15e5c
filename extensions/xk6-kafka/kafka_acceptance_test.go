//go:build acceptance

package kafka

import "testing"

// TestConformance has acks all and 0. The fate of messages with acknowledgements when the broker dies is in TestWhatIsSentToABrokerThatDies.
func TestConformanceWithTheLeadersAcknowledgement(t *testing.T) {
	conforms(t, `{"acks": "1", "assignor": "cooperative-sticky"}`, nil)
}
