//go:build !without_k6_x_nats

package nats

import (
	"go.k6.io/k6/v2/js/modules"

	"github.com/mqbench/mqbench/extensions/xk6-nats/js"
)

// `npx mqbench build --with` leaves this out where another extension registers the name.
func init() { modules.Register("k6/x/nats", js.New()) }
