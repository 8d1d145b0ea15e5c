import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { extension, MANIFEST, scenarioWith } from "../../../infra/programs/extension.fake.ts";
import { addsUp, filesOf, flat, resultOf, run } from "./mqbench.ts";

describe("a driver from outside", () => {
	test("is built, started by its command, measured and pinned; reports need none of it afterwards", {
		tags: "long",
	}, async () => {
		const folder = extension();
		scenarioWith(folder, "{ broker: mybroker, ackWait: 1s, buffer: 1KiB }");
		const out = path.join(folder, "out");
		const options = { cwd: folder };
		const { code, err } = await run(["scenario.yaml", "--allow-code", "--out", out], options);
		expect([0, 4, 6], err).toContain(code);
		const result = resultOf(out);
		const [one] = result.runs;
		expect(one).toMatchObject({ system: "mybroker", lost: 0, intended: 1000 });
		if (one) addsUp(one);
		const lock = readFileSync(path.join(folder, "scenario.lock"), "utf8");
		const [, sum] = /^example.com\/xk6-mybroker folder (h1:\S+)\n$/.exec(lock) ?? [];
		expect(JSON.parse(readFileSync(path.join(out, "environment.json"), "utf8")).programs).toBe(
			`built here from extensions/ and example.com/xk6-mybroker in ./xk6-mybroker (${sum})`,
		);

		// Its files are gone: what was measured is there.
		rmSync(path.join(folder, "xk6-mybroker"), { recursive: true });
		rmSync(path.join(folder, "scenario.lock"));
		const again = await run(["report", out], options);
		expect(again.code).toBe(code);
		expect(flat(again.out)).toContain("mybroker; durability: memory");
		const compared = await run(["compare", out, out], options);
		// On a busy machine its run does not count.
		expect(compared.err + compared.out).toMatch(/against A|a comparison needs/);
	});

	test("is not built or started without a word, and its server is never started", async () => {
		const folder = extension();
		scenarioWith(folder);
		const before = filesOf(folder);
		const { code, err } = await run(["scenario.yaml"], { cwd: folder });
		expect(code).toBe(2);
		expect(err).toMatch(/scenario: runs code that is not mqbench's/);
		expect(err).toMatch(/program node '\{module\}\/server.mjs' '\{port\}' '\{dir\}'/);
		expect(filesOf(folder)).toEqual(before);
	});

	test("is shown by plan and explain, which run nothing", async () => {
		const folder = extension();
		scenarioWith(folder);
		const plan = await run(["plan", "scenario.yaml"], { cwd: folder });
		expect(flat(plan.out)).toMatch(
			/extension example.com\/xk6-mybroker in .\/xk6-mybroker, the driver of mybroker: h1:\S+ not in scenario.lock yet/,
		);
		const page = await run(["explain", "xk6-mybroker"], { cwd: folder });
		expect(page.out).toContain("mybroker: My Broker. A broker that nobody else has.");
		expect(flat(page.out)).toMatch(
			/options: prefetch: type: integer description: Most unacknowledged messages\. default: 100/,
		);
		expect((await run(["validate", "scenario.yaml"], { cwd: folder })).code).toBe(0);
		const up = await run(["up", "scenario.yaml"], { cwd: folder });
		expect(up.err).toContain("keeps no brokers from outside");
	});

	test.each<[string, Record<string, string>, RegExp]>([
		[
			"does not compile",
			{ "mybroker.go": "package mybroker\n\nfunc x() {" },
			/does not become a driver. Last words:.*syntax error/,
		],
		[
			"registers another name",
			{ "register.go": register("other") },
			/no driver for mybroker, the broker of its manifest/,
		],
		["takes a name of ours", { "register.go": register("nats") }, /"nats" is registered twice/],
		["registers nothing", { "register.go": "package mybroker\n" }, /no driver for mybroker/],
	])(
		"that %s is a sentence, and nothing is measured",
		{ tags: "long" },
		async (_, files, message) => {
			const folder = extension(MANIFEST, files);
			scenarioWith(folder);
			const out = path.join(folder, "out");
			const { code, err } = await run(["scenario.yaml", "--allow-code", "--out", out], {
				cwd: folder,
			});
			expect(code).toBe(2);
			expect(flat(err)).toMatch(message);
			expect(filesOf(folder).filter((name) => !name.startsWith("xk6-"))).toEqual(["scenario.yaml"]);
		},
	);

	test("whose server does not start names it, with its words", { tags: "long" }, async () => {
		const folder = extension();
		writeFileSync(path.join(folder, "server"), "#!/bin/sh\necho no room for me >&2; exit 3\n", {
			mode: 0o755,
		});
		scenarioWith(folder, "{ broker: mybroker, command: [./server, '{port}'] }");
		const { code, err } = await run(["scenario.yaml", "--allow-code"], { cwd: folder });
		expect(code).toBe(3);
		expect(flat(err)).toMatch(/mybroker: the broker did not start: .*last words: no room for me/);
	});

	test("is taken by build --with, whatever contract its own go.mod has", {
		tags: "long",
	}, async () => {
		const folder = extension({ ...MANIFEST, contract: 9 });
		const { code, err } = await run(["build", "--with", "./xk6-mybroker"], { cwd: folder });
		expect(code).toBe(2);
		expect(err).toContain("contract 9 of mqbench's drivers, and this mqbench has contract 1");
	});
});

// --- internal ---

function register(name: string): string {
	return `package mybroker

import "github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"

func init() { broker.Register("${name}", New) }
`;
}
