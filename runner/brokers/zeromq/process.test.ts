import { expect, test } from "vitest";
import { started } from "../started.fake.ts";

test.each([
	["zeromq", /^ZeroMQ forwarder go-zeromq\/zmq4 v\d\S+ \(pure Go, not libzmq\)$/],
	["nanomsg", /^nanomsg forwarder mangos v\d\S+ \(pure Go, not nng\)$/],
])("the forwarder of %s comes up on loopback and names its library", async (broker, version) => {
	const made = await started(broker, { forwarder: true });
	expect(made.url).toMatch(new RegExp(`^${broker}://127\\.0\\.0\\.1:\\d+$`));
	expect(made.version).toMatch(version);
	expect(made.pids).toHaveLength(1);
});
