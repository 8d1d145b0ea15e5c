//go:build acceptance

package nats

import (
	"testing"
)

// It takes a minute: go test -tags acceptance.
func TestAClusterGoesOnWhenOneLeaderAfterTheOtherDies(t *testing.T) {
	failover(t, 3, 6)
}
