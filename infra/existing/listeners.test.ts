import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { listenersAt } from "./listeners.ts";

describe.runIf(existsSync("/proc/net/tcp"))("who listens at a port", () => {
	test("is known, and of a free port nobody", async () => {
		const server = createServer();
		await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
		const { port } = server.address() as { port: number };
		expect(listenersAt(port)).toEqual([process.pid]);
		await new Promise((down) => server.close(down));
		expect(listenersAt(port)).toEqual([]);
	});

	test.each([
		["nats-server", true],
		["docker-proxy", false],
	])("as %s is the broker: %s", async (name, is) => {
		const child = spawn(process.execPath, [
			"-e",
			`process.title = "${name}"; const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log(s.address().port))`,
		]);
		onTestFinished(() => void child.kill());
		const [port] = await once(child.stdout, "data");
		expect(listenersAt(Number(port))).toEqual(is ? [child.pid] : []);
	});
});
