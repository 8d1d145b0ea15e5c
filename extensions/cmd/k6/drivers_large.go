//go:build large

package main

// Drivers that take long to compile, because of their libraries. Their definitions in runner/brokers say largeDriver, and k6 is built with the tag
// when a scenario first has one of them.
import (
	_ "github.com/mqbench/mqbench/extensions/xk6-nats-streaming"
	_ "github.com/mqbench/mqbench/extensions/xk6-sqs"
)
