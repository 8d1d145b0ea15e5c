package main

// Drivers of the first run (firstDriver in runner/brokers/), which waits for k6 to be compiled.
import (
	_ "github.com/mqbench/mqbench/extensions/xk6-nats"
	_ "github.com/mqbench/mqbench/extensions/xk6-noop"
)
