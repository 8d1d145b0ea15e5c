// A broker in memory, so that the driver has something to measure: node server.mjs <port>. It speaks lines over TCP:
//
//	PUB <topic> <bytes>, and the payload: OK. If the topic has no group yet, it waits for the first one
//	SUB <topic> <group> <prefetch>: OK, then MSG <bytes> <was delivered before> and the payload, for each message of the group
//	ACK: the oldest message on this connection is handled; no answer
//	DEL <topic>: OK
import { createServer } from "node:net";

const [port = "7077"] = process.argv.slice(2);
/** One for each group of a topic: its messages, and the members that take them in turn. */
let queues = [];

createServer(serve).listen(Number(port), "127.0.0.1", () => {
	console.log(`mybroker 1.0 is listening on 127.0.0.1:${port}`);
});

function serve(socket) {
	let input = Buffer.alloc(0);
	const member = { socket, taken: [], prefetch: 1 };
	let own = { messages: [], members: [] };
	socket.setNoDelay();
	socket.on("error", () => {});
	socket.on("close", () => {
		// Others get what it has not acknowledged.
		own.members = own.members.filter((one) => one !== member);
		own.messages.unshift(...member.taken);
		deliver(own);
	});
	socket.on("data", (chunk) => {
		input = Buffer.concat([input, chunk]);
		socket.cork(); // requests that came together are answered together
		for (let end = input.indexOf("\n"); end >= 0; end = input.indexOf("\n")) {
			const [command, topic, ...words] = input.toString("utf8", 0, end).split(" ");
			const next = end + 1 + (command === "PUB" ? Number(words[0]) || 0 : 0);
			if (input.length < next) break;
			const payload = input.subarray(end + 1, next);
			input = input.subarray(next);
			if (command === "ACK") member.taken.shift();
			else socket.write(/^(PUB|SUB|DEL)$/.test(command) ? "OK\n" : "ERR unknown command\n");
			let theirs = queues.filter((queue) => queue.topic === topic);
			if (command === "PUB" && theirs.length === 0) {
				theirs = [{ topic, messages: [], members: [] }]; // of the first group to come
				queues.push(...theirs);
			}
			if (command === "SUB") {
				const [group, prefetch] = words;
				member.prefetch = Number(prefetch) || 1;
				own = theirs.find((queue) => (queue.group ?? group) === group) ?? { topic, ...own };
				own.group = group;
				own.members.push(member);
				queues = [...queues.filter((queue) => queue !== own), own];
			}
			if (command === "DEL") queues = queues.filter((queue) => queue.topic !== topic);
			if (command === "PUB")
				for (const queue of theirs) {
					queue.messages.push({ payload, before: false });
					deliver(queue);
				}
			deliver(own);
		}
		socket.uncork();
	});
}

function deliver({ messages, members }) {
	while (messages.length > 0) {
		const free = members.findIndex(({ taken, prefetch }) => taken.length < prefetch);
		if (free < 0) return;
		const [member] = members.splice(free, 1);
		members.push(member);
		const { payload, before } = messages.shift();
		member.taken.push({ payload, before: true });
		member.socket.write(Buffer.concat([Buffer.from(`MSG ${payload.length} ${before}\n`), payload]));
	}
}
