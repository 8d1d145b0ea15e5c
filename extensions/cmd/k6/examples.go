//go:build examples

package main

// Drivers from outside, in no k6 of ours: they are vetted and tested with all others.
import (
	_ "github.com/mqbench/mqbench/extensions/examples/xk6-iris"
	_ "github.com/mqbench/mqbench/extensions/examples/xk6-kestrel"
	_ "github.com/mqbench/mqbench/extensions/examples/xk6-mybroker"
)
