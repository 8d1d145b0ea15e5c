import { brokerless } from "../brokerless.ts";

export const zeromq = brokerless({
	name: "zeromq",
	title: "ZeroMQ",
	description:
		"ZeroMQ, by a library in pure Go (go-zeromq/zmq4), not libzmq: sockets that are connected to each other, without a server.",
	alsoCalled: { "0mq": "{ broker: zeromq }", zmq: "{ broker: zeromq }" },
	queue: {
		key: "highWaterMark",
		description:
			"Mode pub-sub: messages that a sender keeps for a subscriber; what does not fit is lost. Default: no limit, the library's own.",
		most: 10_000_000,
	},
	requests: "DEALER and ROUTER, because REQ may have only one request under way",
});
