import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { bareEnvironment, type Supervised, startSupervised } from "./process.ts";
import { alive, descendants, runs } from "./processes.fake.ts";
import { realBinaries } from "./programs/real.fake.ts";
import { testFolder } from "./test-folder.fake.ts";

const { agent } = await realBinaries();

/** Runs a piece of shell behind agent, and keeps its output. */
function supervised(
	body: string,
	options: { env?: Record<string, string>; cwd?: string; control?: boolean } = {},
): Supervised & { out: string[]; err: string[]; said(line: string): Promise<void> } {
	const out: string[] = [];
	const err: string[] = [];
	const child = startSupervised({
		agent,
		argv: ["/bin/sh", "-c", body],
		cwd: options.cwd ?? testFolder(),
		env: options.env ?? { PATH: "/usr/bin:/bin" },
		graceMs: 5_000,
		control: options.control ?? false,
		onStdout: (line) => void out.push(line),
		onStderr: (line) => void err.push(line),
	});
	onTestFinished(() => child.abandon());
	const said = async (line: string) => {
		await expect.poll(() => out, { timeout: 30_000 }).toContain(line);
	};
	return { ...child, out, err, said };
}

describe("a command behind agent", () => {
	test("has its lines handed over, ends as it ends, and leaves nothing that it has started", async () => {
		const { ended, out, err } = supervised(
			"sleep 100 >/dev/null 2>&1 & echo $!; echo two >&2; exit 7",
		);
		expect(await ended).toEqual({ code: 7, signal: null });
		expect(err).toEqual(["two"]);
		await expect.poll(() => runs(Number(out[0]))).toBe(false);
	});

	test("can be killed with agent itself when somebody has frozen both", async () => {
		const child = supervised("echo up; exec sleep 100");
		await child.said("up");
		const below = descendants(child.pid);
		for (const { pid } of [...below, { pid: child.pid }]) process.kill(pid, "SIGSTOP");
		child.kill();
		await child.ended;
		await expect.poll(() => alive(below)).toEqual([]);
	});

	test("has no other environment, folder and standard input than it is given", async () => {
		const cwd = testFolder();
		const { ended, out, say } = supervised("env; pwd; read -r line || echo none", {
			cwd,
			env: { PATH: "/usr/bin:/bin", ONLY: "this" },
		});
		expect(() => say("anything")).toThrow("nothing can be said");
		await ended;
		for (const line of ["ONLY=this", cwd, "none"]) expect(out).toContain(line);
		const names = out.map((line) => line.split("=")[0]);
		for (const name of Object.keys(process.env))
			if (!["PATH", "PWD", "SHLVL", "_", "OLDPWD"].includes(name))
				expect(names).not.toContain(name);
	});

	test("hears what is said where it has a standard input", async () => {
		const { ended, out, say, said } = supervised(
			'while read -r line; do echo "got $line"; [ "$line" = end ] && exit 6; done',
			{ control: true },
		);
		say('{"t0UnixNs":"17"}');
		await said('got {"t0UnixNs":"17"}');
		say("signal INT");
		say("end");
		expect(await ended).toEqual({ code: 6, signal: null });
		// What is said is never an order.
		expect(out).toContain("got signal INT");
		// There is no reader any more, and it has no effect.
		say("late");
	});

	test("is interrupted when it is abandoned, and may end by itself", async () => {
		const { abandon, ended, said } = supervised(
			"trap 'echo bye; exit 3' INT; echo up; while :; do sleep 0.05; done",
		);
		await said("up");
		abandon();
		await said("bye");
		expect(await ended).toEqual({ code: 3, signal: null });
	});
});

test("what cannot be started ends with code 127 and a line on stderr", async () => {
	const err: string[] = [];
	const missing = path.join(testFolder(), "missing");
	const start = (agentPath: string) =>
		startSupervised({
			agent: agentPath,
			argv: [missing],
			cwd: testFolder(),
			env: {},
			graceMs: 100,
			onStdout: () => {},
			onStderr: (line) => void err.push(line),
		}).ended;
	expect(existsSync(missing)).toBe(false);
	expect(await start(agent)).toEqual({ code: 127, signal: null });
	expect(await start(missing)).toEqual({ code: 127, signal: null });
	expect(err[0]).toMatch(/^agent: start .*missing: .*no such file/);
	expect(err[1]).toMatch(/^cannot start .*missing: .*ENOENT/);
});

test("the bare environment has a home of its own, PATH, UTC, and nothing that steers k6", () => {
	expect(
		bareEnvironment("/run", {
			PATH: "/bin",
			HOME: "/home/me",
			K6_VUS: "50",
			NATS_URL: "nats://me:pw@host",
			TMPDIR: undefined,
		}),
	).toEqual({ HOME: "/run", PATH: "/bin", TZ: "UTC" });
});
