import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { readBrokerMetrics } from "../evidence/broker-metrics.ts";
import { watchBroker } from "./broker-metrics.ts";

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

async function serving(answer: RequestListener): Promise<string> {
	const server = createServer(answer).listen(0, "127.0.0.1");
	closing.push(() => {
		server.closeAllConnections();
		server.close();
	});
	await new Promise((resolve) => server.once("listening", resolve));
	return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type From = Parameters<typeof watchBroker>[0]["from"];

/** Looks for a time, and returns what was then read. */
async function watched(from: From, until: () => boolean = () => true) {
	const file = path.join(testFolder(), "broker-metrics.jsonl");
	const clock = { nowMs: Date.now, monotonicMs: () => performance.now() };
	const what = { from, counters: /^in_/, show: ["a_*"], file, everySeconds: 0.02 };
	const watching = watchBroker(what, { clock });
	await vi.waitFor(() => expect(until()).toBe(true), { timeout: 20_000 });
	const notes = await watching.stop();
	return { notes, read: readBrokerMetrics(file) };
}

describe("the broker's own metrics", () => {
	test("are written as they change, with series that come up and go", async () => {
		const pages = [
			"a_total 1\nb 7\n",
			"a_total 3\nb 7\n",
			'a_total 3\nb NaN\nc{x="1"} 2\n',
			'a_total 4\nc{x="1"} 2\n',
		];
		let looks = 0;
		const host = await serving((_, response) => {
			response.end(pages[Math.min(looks++, pages.length - 1)]);
		});
		const found = await watched([`http://${host}/metrics`], () => looks >= 4);
		expect(found.notes).toEqual([]);
		const series = found.read?.series.map(({ name, counter }) => `${name} ${counter}`);
		expect(series).toEqual(["a_total true", "b false", 'c{x="1"} false']);
		expect(found.read?.show).toEqual(["a_*"]);
		const values = found.read?.samples.get(1)?.map((one) => JSON.stringify(one.values)) ?? [];
		expect(values.slice(0, 4)).toEqual(["[1,7]", "[3,7]", "[3,null,2]", "[4,null,2]"]);
	});

	test("of several nodes are apart, JSON too, with a login in a header", async () => {
		const logins: (string | undefined)[] = [];
		const host = await serving((request, response) => {
			logins.push(request.headers.authorization);
			response.end(request.url === "/varz" ? '{ "in_msgs": 5, "mem": 7 }' : "up 1\n");
		});
		const found = await watched(
			[`http://me:s%40cret@${host}/varz`, `http://${host}/metrics`],
			() => logins.length >= 2,
		);
		expect(logins).toContain(`Basic ${btoa("me:s@cret")}`);
		const series = found.read?.series.map(({ name, counter }) => `${name} ${counter}`);
		expect(series?.toSorted()).toEqual(["in_msgs true", "mem false", "up false"]);
		expect(found.read?.samples.size).toBe(2);
	});

	test.each<[string, RequestListener, string]>([
		["no Prometheus text", (_, r) => r.end("<html>"), "line 1 of the answer is not Prometheus"],
		["broken JSON", (_, r) => r.end('{"a": 1'), ""],
		["an error", (_, r) => r.writeHead(404).end("no"), "it answers with HTTP status 404"],
		["a page that leads elsewhere", (_, r) => r.writeHead(302, { location: "/" }).end(), ""],
		[
			"an endless page",
			(_, r) => {
				r.on("error", () => {});
				const more = () => {
					while (!r.destroyed && r.write("a 1\n".repeat(20_000)));
					if (!r.destroyed) r.once("drain", more);
				};
				more();
			},
			"its answer is larger than 4MiB",
		],
		["no answer", () => {}, "no answer in time"],
	])("%s is a note, without the password, and nothing else", async (_, answer, why) => {
		let looks = 0;
		const host = await serving((request, response) => {
			looks++;
			answer(request, response);
		});
		const { notes, read } = await watched([`http://me:s3cr3t@${host}/`], () => looks > 0);
		expect(notes).toHaveLength(1);
		expect(notes[0]).toMatch(`the broker's metrics could not be read: http://***@${host}/: ${why}`);
		expect(read?.samples.size).toBe(0);
	});

	test("that the broker does not give in its own way are a note without an address", async () => {
		const reader = { read: () => Promise.reject(new Error("it refuses")), close() {} };
		const { notes } = await watched([reader]);
		expect(notes).toEqual(["the broker's metrics could not be read: it refuses"]);
	});

	test("are no reason to fail where nothing listens", async () => {
		const { notes } = await watched(["http://127.0.0.1:1/metrics", "https://127.0.0.1:1/"]);
		expect(notes).toHaveLength(2);
		expect(notes[0]).toContain("127.0.0.1:1");
	});

	test("of a page with too many, and with names too long, are the first ones", async () => {
		const many = Array.from({ length: 3000 }, (_, i) => `a{i="${i}"} ${i}\n`).join("");
		const host = await serving((_, response) => {
			response.end(`a{l="${"x".repeat(1000)}"} 1\n${many}`);
		});
		const found = await watched([`http://${host}/`]);
		expect(found.read?.series).toHaveLength(2000);
		expect(found.notes).toEqual(["1 001 of the broker's metrics were left out: 2000 are kept"]);
	});
});
