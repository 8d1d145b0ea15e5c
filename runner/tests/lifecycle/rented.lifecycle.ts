import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { runs } from "../../../infra/processes.fake.ts";
import { type Emulator, startEmulator } from "../../../infra/rent/emulator.fake.ts";
import { fakePulumi } from "../../../infra/rent/pulumi.fake.ts";
import { output, standUpAlone } from "../../../infra/rent/rent.fake.ts";
import { packageFolder } from "../../package.ts";
import { run, start, temporaryFolder, until } from "../e2e/mqbench.ts";

// Rented machines, with a stand-in for the command pulumi, which makes nothing in the emulator of AWS.
let aws: Emulator;
beforeAll(async () => {
	aws = await startEmulator();
}, 240_000);
afterAll(() => aws?.close());

function scene() {
	const folder = temporaryFolder();
	const pulumi = fakePulumi(folder);
	pulumi.behave({ rig: output() });
	const env = {
		MQBENCH_STATE_DIR: path.join(folder, "state"),
		MQBENCH_PULUMI: pulumi.program,
		MQBENCH_AWS_ENDPOINT: aws.endpoint,
	};
	const rig = path.join(folder, "state", "rigs", "demo-1");
	const told = (name: string) => path.join(folder, "told", name);
	return {
		pulumi,
		env,
		rig,
		told,
		/** A rig of an mqbench that was killed after the start. */
		async killed() {
			const child = standUpAlone({ HOME: folder, ...env });
			const [ready] = await once(child.stdout ?? child, "data");
			expect(`${ready}`).toBe("ready\n");
			child.kill("SIGKILL");
			await once(child, "close");
		},
		/** An mqbench that takes it down, and waits for a Pulumi that is held. */
		async destroying() {
			pulumi.behave({ held: true });
			const down = start(["rigs", "destroy", "demo-1", "--yes"], { env });
			await until(() => existsSync(told("destroying")), "Pulumi destroys");
			return down;
		},
	};
}

test("taking down is not stopped by Ctrl-C; a second one prints what is left, with exit code 5, and Pulumi goes on", async () => {
	const { killed, destroying, env, pulumi, rig, told } = scene();
	await killed();
	const down = await destroying();
	const pid = Number(readFileSync(told("destroying"), "utf8"));
	// No retries happen in such a short time; and a closed terminal sends several signals.
	for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) down.signal(signal);
	await sleep(2_000);
	down.signal("SIGHUP");
	await sleep(500);
	expect(runs(down.pid)).toBe(true);
	// A machine that is late got the first signal later, too.
	const asking = setInterval(() => down.signal("SIGINT"), 100);
	const ended = await down.ended;
	clearInterval(asking);
	expect(ended.code).toBe(5);
	expect(ended.err).toMatch(
		/The rig demo-1 is not down in eu-central-1 \(1 i4i\.xlarge, 2 c6in\.xlarge, \$0\.82 an hour/,
	);
	expect(ended.err).toMatch(/mqbench rigs destroy demo-1\n/);
	expect(ended.err).toMatch(/mqbench rigs sweep --region eu-central-1 --id demo-1/);

	expect(runs(pid)).toBe(true);
	expect(pulumi.signals()).toEqual([]);
	pulumi.behave({});
	const again = await run(["rigs", "destroy", "demo-1", "--yes"], { env });
	expect(again.code).toBe(0);
	expect(existsSync(rig)).toBe(false);
});

test("a terminal that is closed says so twice, and the rig is taken down to its end", async () => {
	const { killed, destroying, pulumi, rig } = scene();
	await killed();
	const down = await destroying();
	for (let i = 0; i < 4; i++) {
		down.signal("SIGHUP");
		await sleep(600);
	}
	expect(runs(down.pid)).toBe(true);
	pulumi.behave({});
	expect((await down.ended).code).toBe(0);
	expect(existsSync(rig)).toBe(false);
});

test("an error that nobody catches is told, and the rig is taken down to its end all the same", async () => {
	const { killed, env, pulumi, rig, told } = scene();
	await killed();
	pulumi.behave({ held: true });
	const callback = `
		import { existsSync } from "node:fs";
		const timer = setInterval(() => {
			if (!existsSync(${JSON.stringify(told("destroying"))})) return;
			clearInterval(timer);
			throw new Error("in a callback");
		}, 20);
	`;
	const started = start(["rigs", "destroy", "demo-1", "--yes"], {
		env: { ...env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(callback)}` },
	});
	await started.says(/This is a bug in mqbench(.|\n)*in a callback/);
	pulumi.behave({});
	const down = await started.ended;
	expect(down.code).toBe(1);
	expect(down.out).toBe("The rig demo-1 is down; nothing of it is left.\n");
	expect(existsSync(rig)).toBe(false);
});

test.each([
	["Ctrl-D", "\x04", 0, "Nothing was taken down."],
	["Ctrl-C", "\x03", 130, "Stopped by SIGINT."],
])("%s is an answer to a question: no", async (_, key, code, words) => {
	const { killed, env, rig } = scene();
	await killed();
	const asked = await atTerminal(["rigs", "destroy", "demo-1"], key, env);
	expect(asked.code).toBe(code);
	expect(asked.said).toContain(words);
	expect(asked.said).not.toMatch(/bug|unsettled/);
	expect(existsSync(rig)).toBe(true);
});

// --- internal ---

/** Runs mqbench at a terminal, and types `key` at its first question. */
async function atTerminal(
	args: readonly string[],
	key: string,
	env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; said: string }> {
	const child = spawn("python3", ["-c", TERMINAL, process.execPath, CLI, ...args], {
		env: { PATH: process.env.PATH, HOME: "/nowhere", ...env },
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	let said = "";
	let typed = false;
	child.stdout.on("data", (text) => {
		said += text;
		if (!typed && said.includes("[y/N] ")) {
			typed = true;
			child.stdin.write(key);
		}
	});
	const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
	return { code, said };
}

const CLI = path.join(packageFolder, "dist", "runner", "cli.js");

/** A terminal between us and a program: Python has one at hand. */
const TERMINAL = `
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
`;
