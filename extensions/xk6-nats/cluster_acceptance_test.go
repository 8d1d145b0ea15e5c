//go:build acceptance

package nats

import (
	"testing"
)

// TestAClusterGoesOnWithoutItsLeader is the short one.
func TestAClusterGoesOnWhenOneLeaderAfterTheOtherDies(t *testing.T) {
	failover(t, 3, 6)
}

func TestAStreamWithoutCopiesGoesOnWhenItsNodeIsBack(t *testing.T) { failover(t, 1, 1) }
