import { brokerless } from "../brokerless.ts";

export const nanomsg = brokerless({
	name: "nanomsg",
	title: "nanomsg",
	description:
		"nanomsg (nng) by mangos, a library in pure Go: sockets that connect directly, without a server.",
	alsoCalled: { mangos: "{ broker: nanomsg }", nng: "{ broker: nanomsg }" },
	queue: {
		key: "queue",
		description:
			"Messages that a socket queues in each direction. If the queue is full, a send blocks; in `pub-sub` messages are lost. Default: 128, the library's; in `pub-sub` 10 000.",
		most: 1_000_000,
	},
});
