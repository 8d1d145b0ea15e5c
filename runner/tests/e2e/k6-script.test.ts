import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { realBinaries } from "../../../infra/binaries/real.fake.ts";
import type { Binaries } from "../../../infra/binaries/resolve.ts";
import { readClient } from "../../evidence/client-read.ts";
import { packageFolder } from "../../package.ts";
import { temporaryFolder } from "./mqbench.ts";
import { ownNats } from "./own-nats.ts";

const EXAMPLE = path.join(packageFolder, "extensions/xk6-mqbench/examples/hand-written.js");

describe("a k6 script written by hand", () => {
	test("measures like a compiled one", { tags: "long" }, async () => {
		const { folder, found } = await stage();
		const { code } = await k6(found, folder, [EXAMPLE], (await ownNats()).url);
		expect(code).toBe(0);
		expect(window(folder)).toMatchObject({ intended: 2000, received: 2000 });
	});

	test("runs from an archive as well, which carries the plan", { tags: "long" }, async () => {
		const { folder, found } = await stage();
		writeFileSync(path.join(folder, "plan.json"), planOf(EXAMPLE));
		writeFileSync(
			path.join(folder, "script.js"),
			readFileSync(EXAMPLE, "utf8").replace(
				/JSON\.stringify\(\{[\s\S]*?\}\),\n/,
				"open('./plan.json'),\n",
			),
		);
		const archived = await execute(found.k6, ["archive", "script.js"], folder);
		expect(archived.code).toBe(0);
		const elsewhere = temporaryFolder();
		const { code } = await k6(
			found,
			elsewhere,
			[path.join(folder, "archive.tar")],
			(await ownNats()).url,
		);
		expect(code).toBe(0);
		expect(window(elsewhere)).toMatchObject({ received: 2000 });
	});
});

describe("a script that cannot work is told so, and leaves no results", () => {
	const cases: [string, (text: string) => string, RegExp][] = [
		[
			"a driver for another broker",
			(text) => text.replace("mqbench/nats", "mqbench/noop"),
			/the plan is for nats, the driver is noop/,
		],
		["no driver", (text) => text.replace("\tnats,\n", "\t{},\n"), /the first argument is a driver/],
		[
			"a plan that contradicts itself",
			(text) => text.replace("messages: rate * (warmup", "messages: 1 + rate * (warmup"),
			/schedule has 1000 \+ 2000 messages, the plan says 1000 \+ 2001/,
		],
		[
			"load inside of a function",
			(text) => text.replace("() => run.slot()", "() => mqbench.load(nats, '{}')"),
			/belongs at the top of the script/,
		],
	];
	test.each(cases)("%s", { tags: "long" }, async (_, change, words) => {
		const { folder, found } = await stage();
		const script = path.join(folder, "script.js");
		writeFileSync(script, change(readFileSync(EXAMPLE, "utf8")));
		const { err } = await k6(found, folder, [script], (await ownNats()).url);
		expect(err).toMatch(words);
		expect(existsSync(path.join(folder, "client-0.jsonl"))).toBe(false);
	});

	test("no --out", { tags: "long" }, async () => {
		const { folder, found } = await stage();
		const { err } = await execute(
			found.k6,
			["run", "--quiet", "--summary-mode=disabled", EXAMPLE],
			folder,
		);
		expect(err).toMatch(/start k6 with --out mqbench=/);
	});

	test("no broker", { tags: "long" }, async () => {
		const { folder, found } = await stage();
		const { code, err } = await k6(found, folder, [EXAMPLE], "nats://127.0.0.1:1");
		expect(code).not.toBe(0);
		expect(err).toMatch(/open nats: nats: connect:/);
		expect(existsSync(path.join(folder, "client-0.jsonl.part"))).toBe(false);
	});
});

// --- internal ---

async function stage(): Promise<{ folder: string; found: Binaries }> {
	return { folder: temporaryFolder(), found: await realBinaries() };
}

/** The plan that stands in the example, as JSON. */
function planOf(script: string): string {
	const literal = /JSON\.stringify\((\{[\s\S]*?\})\),\n/.exec(readFileSync(script, "utf8"))?.[1];
	const plan = new Function("rate", "warmup", "seconds", `return ${literal}`);
	return JSON.stringify(plan(1000, 1, 2));
}

function k6(found: Binaries, folder: string, script: string[], url: string) {
	const quiet = ["--quiet", "--summary-mode=disabled", "--no-usage-report"];
	return execute(found.k6, ["run", ...quiet, "--out=mqbench=client-0", ...script], folder, url);
}

function execute(
	file: string,
	args: string[],
	cwd: string,
	url = "",
): Promise<{ code: number; err: string }> {
	const env = {
		PATH: process.env.PATH,
		HOME: cwd,
		K6_AUTO_EXTENSION_RESOLUTION: "false",
		MQBENCH_URL: url,
	};
	return new Promise((resolve) => {
		execFile(file, args, { cwd, env, timeout: 60_000 }, (error, _, err) =>
			resolve({ code: Number(error?.code ?? 0), err }),
		);
	});
}

function window(folder: string) {
	return readClient(folder, 0).lines.find(
		(line) => line.type === "counters" && line.scope === "window",
	);
}
