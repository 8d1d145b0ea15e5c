package main

// One line for each driver. A new driver needs a line here, and one each of `require` and `replace` in go.mod.
import (
	_ "github.com/mqbench/mqbench/extensions/xk6-amqp"
	_ "github.com/mqbench/mqbench/extensions/xk6-kafka"
	_ "github.com/mqbench/mqbench/extensions/xk6-mqtt"
	_ "github.com/mqbench/mqbench/extensions/xk6-nanomsg"
	_ "github.com/mqbench/mqbench/extensions/xk6-nats"
	_ "github.com/mqbench/mqbench/extensions/xk6-noop"
	_ "github.com/mqbench/mqbench/extensions/xk6-nsq"
	_ "github.com/mqbench/mqbench/extensions/xk6-rabbitmq"
	_ "github.com/mqbench/mqbench/extensions/xk6-redis"
	_ "github.com/mqbench/mqbench/extensions/xk6-zeromq"
)
