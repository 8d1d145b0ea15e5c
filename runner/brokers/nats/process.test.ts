import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { findOnPath } from "../../../infra/local/program.ts";
import { runs } from "../../../infra/processes.fake.ts";
import { realBinaries } from "../../../infra/programs/real.fake.ts";
import { script, testFolder } from "../../../infra/test-folder.fake.ts";
import { started } from "../started.fake.ts";

const real = await realBinaries();

const open = (written: Readonly<Record<string, unknown>>) => started("nats", written);

/** Enough of NATS to make a stream and publish: one connection, one request at a time. */
async function client(url: string) {
	const { hostname, port, username } = new URL(url.split(",")[0] ?? "");
	const socket = connect(Number(port), hostname);
	onTestFinished(() => void socket.destroy());
	const lines: string[] = [];
	let arrived = () => {};
	let asked = 0;
	createInterface({ input: socket }).on("line", (line) => {
		lines.push(line);
		arrived();
	});
	/** The first line that matches; null: none came within that time. */
	const line = async (what: RegExp, limitMs: number): Promise<string | null> => {
		const end = Date.now() + limitMs;
		for (;;) {
			const at = lines.findIndex((one) => what.test(one));
			if (at >= 0) return lines.splice(0, at + 1).at(-1) ?? "";
			if (Date.now() >= end) return null;
			await new Promise<void>((resolve) => {
				arrived = resolve;
				setTimeout(resolve, end - Date.now());
			});
		}
	};
	const info = JSON.parse((await line(/^INFO /, 10_000))?.slice(5) ?? "{}");
	socket.write(`CONNECT {"verbose":false,"auth_token":"${username}"}\r\nSUB inbox.* 1\r\n`);
	return {
		cluster: info.cluster as string,
		/** A cluster that elects a leader loses requests: it is repeated until it is answered. */
		async request(subject: string, body: string) {
			for (;;) {
				const inbox = `inbox.${++asked}`;
				socket.write(`PUB ${subject} ${inbox} ${Buffer.byteLength(body)}\r\n${body}\r\n`);
				if ((await line(new RegExp(`^MSG ${inbox} `), 5_000)) === null) continue;
				const answer = await line(/^\{/, 5_000);
				return JSON.parse(answer ?? "") as { error?: object; seq?: number };
			}
		},
	};
}

test("a cluster of three has a leader, each a process", async () => {
	const broker = await open({ mode: "jetstream", nodes: 3, replicas: 3 });
	expect(broker.pids.map(runs)).toEqual([true, true, true]);
	const urls = broker.url.split(",");
	expect(new Set(urls).size).toBe(3);
	const { cluster, request } = await client(broker.url);
	expect(cluster).toBe("mqbench");
	const made = await request(
		"$JS.API.STREAM.CREATE.s",
		'{"name":"s","subjects":["t"],"num_replicas":3,"storage":"file"}',
	);
	expect(made.error).toBeUndefined();
	// 2 where the first one was stored and its answer lost.
	expect((await request("t", "hello")).seq).toBeGreaterThan(0);
	await broker.close();
	expect(broker.pids.map(runs)).toEqual([false, false, false]);
	expect(readFileSync(broker.log, "utf8")).toMatch(/^\[3\] .*Server is ready$/m);
});

/** Without it nothing can be shown, which is a failure where tests have to prove something. */
const canTrace = tracing();

describe.skipIf(!canTrace && !process.env.CI)(
	canTrace
		? "durability, by the calls that flush files"
		: "durability (needs strace, and the right to use it)",
	() => {
		const MESSAGES = 50;

		/** Flushes while nats-server acknowledges messages, and after that. */
		async function flushes(durability: string | null) {
			const folder = testFolder();
			const calls = path.join(folder, "calls");
			const binary = script(
				path.join(folder, "nats-server"),
				`exec strace -D -f -qq -e trace=fsync,fdatasync -e signal=none -o '${calls}' '${await real.server("nats-server")}' "$@"`,
			);
			const broker = await open({
				mode: "jetstream",
				binary,
				...(durability === null ? {} : { durability }),
			});
			const { request } = await client(broker.url);
			const storage = durability === "memory" ? "memory" : "file";
			await request(
				"$JS.API.STREAM.CREATE.s",
				`{"name":"s","subjects":["t"],"num_replicas":1,"storage":"${storage}"}`,
			);
			const count = () =>
				readFileSync(calls, "utf8").match(/^\d+ +(fsync|fdatasync)\(/gm)?.length ?? 0;
			// Flushes of making the stream arrive by and by.
			let before = -1;
			while (before !== count()) {
				before = count();
				await new Promise((resolve) => setTimeout(resolve, 300));
			}
			for (let i = 1; i <= MESSAGES; i++) expect((await request("t", "x".repeat(256))).seq).toBe(i);
			const during = count() - before;
			return { during, later: () => count() - before - during };
		}

		test("fsync: every message is flushed before it is acknowledged", async () => {
			expect((await flushes("fsync")).during).toBeGreaterThanOrEqual(MESSAGES);
		});

		test("interval: messages are flushed by and by", async () => {
			const { during, later } = await flushes("interval");
			expect(during).toBeLessThan(MESSAGES / 2);
			await expect.poll(() => during + later()).toBeGreaterThan(0);
		});

		test.each([["os"], ["memory"], [null]])("%s: nothing is flushed", async (level) => {
			const { during, later } = await flushes(level);
			expect(during).toBe(0);
			// More than two of the intervals above.
			await new Promise((resolve) => setTimeout(resolve, 2500));
			expect(later()).toBe(0);
		});
	},
);

function tracing(): boolean {
	if (!findOnPath("strace", process.env)) return false;
	try {
		execFileSync("strace", ["-o", "/dev/null", "true"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}
