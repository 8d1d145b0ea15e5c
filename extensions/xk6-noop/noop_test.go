package noop

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestConformance(t *testing.T) {
	brokertest.Run(t, func(*testing.T) brokertest.System { return brokertest.System{Driver: New} })
}
