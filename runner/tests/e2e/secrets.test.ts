import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { commandLines } from "../../../infra/processes.fake.ts";
import { variable } from "../../brokers/index.ts";
import {
	filesOf,
	resultOf,
	run,
	scenario,
	start,
	temporaryFolder,
} from "./mqbench.ts";
import { ownNats } from "./own-nats.ts";

const PASSWORD = "s3cr3t";

test.each([
	["on the command line", ["--url", "<url>"], {}],
	["in the environment", ["--url", "$" + "{NATS_URL}"], { NATS_URL: "<url>" }],
	["in --set", ["--set", "target=existing", "--set", "system.url=<url>"], {}],
	[
		"with letters that end other words",
		["--url", "<url>"],
		{ odd: "it's\"{s3cr3t}" },
	],
] as const)(
	"a password %s is in no file, no stream and no process list",
	async (_, args, { odd, ...env }: { odd?: string; NATS_URL?: string }) => {
		// It takes any password.
		const { url: broker } = await ownNats();
		const url = broker.replace("://", `://user:${odd ?? PASSWORD}@`);
		const fill = (text: string) => text.replace("<url>", url);
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const mqbench = start(
			[scenario(folder, { duration: "2s" }), "--out", out, ...args.map(fill)],
			{ env: env.NATS_URL ? { NATS_URL: fill(env.NATS_URL) } : {} },
		);
		await mqbench.says(/ {2}1s\/2s/);
		expect(commandLines().filter((line) => line.includes(PASSWORD))).toEqual(
			[],
		);
		const ended = await mqbench.ended;
		expect(ended.code).toBe(0);
		expect(ended.out + ended.err).not.toContain(PASSWORD);
		// Whoever typed it learns the better way.
		expect(ended.err.includes("a password on the command line")).toBe(
			!env.NATS_URL,
		);
		expect(resultOf(out).runs[0]?.brokerUrl).toBe(
			broker.replace("://", "://***@"),
		);
		for (const file of filesOf(out))
			expect(readFileSync(path.join(out, file), "latin1"), file).not.toContain(
				PASSWORD,
			);
	},
);

test.each([
	["from the environment", variable("NATS_TOKEN")],
	["in the file", "t0ken-s3cr3t"],
])(
	"a token in config, %s, reaches the broker, and no file and no stream",
	async (_, token) => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(
			folder,
			{},
			{
				system: `{ broker: nats, auth: token, config: { "authorization.token": "${token}" } }`,
			},
		);
		const ended = await run([file, "--out", out], {
			env: { NATS_TOKEN: "t0ken-s3cr3t" },
		});
		expect(ended.out + ended.err).not.toContain("s3cr3t");
		const [one] = resultOf(out).runs;
		expect(one).toMatchObject({
			...{ received: 500, failed: 0 },
			brokerSettings: { "authorization.token": "***" },
		});
		for (const name of filesOf(out))
			expect(readFileSync(path.join(out, name), "latin1"), name).not.toContain(
				"s3cr3t",
			);
	},
);

test("a password is in no message about a broker that does not answer, nor about a wrong option", async () => {
	const file = scenario(temporaryFolder());
	const url = `nats://user:${PASSWORD}@127.0.0.1:1`;
	for (const args of [
		["--url", url],
		["--url", url.replace("nats", "http")],
		["--set", `system.url=${url}`],
		["--set", `systm.url=${url}`],
		["--set", `target=existing`, "--set", `system=${url}`],
		["--target", url],
		["--only", url],
		["--on-inconclusive", url],
		[`--ulr=${url}`],
		[url],
	]) {
		const ended = await run([file, ...args]);
		expect(ended.code, args.join(" ")).not.toBe(0);
		expect(ended.out + ended.err, args.join(" ")).not.toContain(PASSWORD);
	}
	expect((await run([url])).err).not.toContain(PASSWORD);
});

test("a password in the scenario file is refused, and not repeated", async () => {
	const file = scenario(
		temporaryFolder(),
		{},
		{
			target: "existing",
			system: `{ broker: nats, url: "nats://user:${PASSWORD}@127.0.0.1:4222" }`,
		},
	);
	const ended = await run([file]);
	expect(ended.code).toBe(2);
	expect(ended.err).toMatch(/url holds a password/);
	expect(ended.err).not.toContain(PASSWORD);
});

// --- internal ---
