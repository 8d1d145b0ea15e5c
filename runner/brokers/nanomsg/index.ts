import { brokerless } from "../brokerless.ts";

export const nanomsg = brokerless({
	name: "nanomsg",
	title: "nanomsg",
	description:
		"nanomsg's protocols (nng), by a library in pure Go (mangos): sockets that are connected to each other, without a server.",
	alsoCalled: { mangos: "{ broker: nanomsg }", nng: "{ broker: nanomsg }" },
	queue: {
		key: "queue",
		description:
			"Messages that a socket keeps in each direction. Where it is full a send blocks, in mode pub-sub messages are lost. Default: 128, the library's own; pub-sub: 10 000.",
		most: 1_000_000,
	},
	requests: "raw REQ and REP, because a plain REQ may have only one request under way",
});
