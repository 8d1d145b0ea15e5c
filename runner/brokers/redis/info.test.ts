import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { infoReader, parseInfo } from "./info.ts";

test("Redis' INFO: numbers by name", () => {
	const text =
		"$60\r\n# Stats\r\ntotal_commands_processed:12\r\nused_memory_human:1.2M\r\nload:0.5\r\nrole:master\r\n";
	expect(Object.fromEntries(parseInfo(text, /^total_/))).toEqual({
		total_commands_processed: { value: 12, counter: true },
		load: { value: 0.5, counter: false },
	});
});

test("INFO is asked for over a connection each, and not for longer than is time", async () => {
	let silent = false;
	const said: string[] = [];
	const server = createServer((socket) => {
		socket
			.on("error", () => {})
			.on("data", (data) => {
				said.push(`${data}`);
				if (silent) return;
				// In two pieces.
				socket.write("+OK\r\n$5\r\na:1\r\n");
				setTimeout(() => socket.end(said.length === 3 ? "" : "\r\n+OK\r\n"), 10);
			});
	}).listen(0, "127.0.0.1");
	onTestFinished(() => void server.close());
	await new Promise((resolve) => server.once("listening", resolve));
	const { port } = server.address() as AddressInfo;
	const reader = infoReader(`redis://:p%40ss@127.0.0.1:${port}`, /^$/);
	const read = () => reader.read(AbortSignal.timeout(silent ? 50 : 20_000));
	for (let i = 0; i < 2; i++) expect([...(await read())().keys()]).toEqual(["a"]);
	expect(said[1]).toMatch(/^AUTH p@ss\r\nINFO clients\r\n/);
	await expect(read()).rejects.toThrow("it closed the connection");
	silent = true;
	await expect(read()).rejects.toMatchObject({ name: "TimeoutError" });
	silent = false;
	expect((await read())().size).toBe(1);
	expect(said).toHaveLength(5);
});
