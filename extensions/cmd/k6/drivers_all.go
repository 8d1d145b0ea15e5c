//go:build drivers

package main

// All other drivers: k6 is built with the tag when a scenario first has one of them. A new driver needs a line here, and one each of `require` and
// `replace` in go.mod.
import (
	_ "github.com/mqbench/mqbench/extensions/xk6-amqp"
	_ "github.com/mqbench/mqbench/extensions/xk6-kafka"
	_ "github.com/mqbench/mqbench/extensions/xk6-mqtt"
	_ "github.com/mqbench/mqbench/extensions/xk6-nanomsg"
	_ "github.com/mqbench/mqbench/extensions/xk6-nats-streaming"
	_ "github.com/mqbench/mqbench/extensions/xk6-nsq"
	_ "github.com/mqbench/mqbench/extensions/xk6-rabbitmq"
	_ "github.com/mqbench/mqbench/extensions/xk6-redis"
	_ "github.com/mqbench/mqbench/extensions/xk6-sqs"
	_ "github.com/mqbench/mqbench/extensions/xk6-zeromq"
)
