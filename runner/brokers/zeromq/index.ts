import { brokerless } from "../brokerless.ts";

export const zeromq = brokerless({
	name: "zeromq",
	title: "ZeroMQ",
	description:
		"ZeroMQ by go-zeromq/zmq4, a library in pure Go, not libzmq: sockets that connect directly, without a server.",
	alsoCalled: { "0mq": "{ broker: zeromq }", zmq: "{ broker: zeromq }" },
	queue: {
		key: "highWaterMark",
		description:
			"`pub-sub`: messages that a sender queues for a subscriber; the rest is lost. Default: no limit, as in the library.",
		most: 10_000_000,
	},
});
