import { execFileSync, spawn } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	readFileSync,
	rmdirSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { cpus } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { BUILD_FLAGS } from "../../../../infra/programs/build.ts";
import { pathOf, realBinaries } from "../../../../infra/programs/real.fake.ts";
import type { Result } from "../../../model/result.ts";
import { packageFolder } from "../../../package.ts";
import { sum } from "../../../stats/sum.ts";
import {
	measured,
	othersHadTheMachine,
	resultOf,
	run,
	temporaryFolder,
} from "../../e2e/mqbench.ts";

/** Every check is made to fire by causing its condition, and none of them fires when nothing is wrong. */

const QUICKSTART = path.join(packageFolder, "scenarios", "quickstart.yaml");
/** Without a broker, which would suffer as well, the generator must be the cause. */
const NOOP = { system: "noop" };

test("a k6 that is starved of CPU is found late: INVALID, not a slow broker", async () => {
	for (let i = 0; i < 8; i++) hog();
	const load = { rate: "400000/s", warmup: "1s", duration: "4s" };
	const { result } = await measured(load, { ...NOOP, sla: "[p99 < 200us]" }, { exit: [4] });
	expect(told("starved", result).get("lag")).not.toBe("ok");
});

test("a rate above what the machine carries is not a pass", async () => {
	const load = { rate: "8000000/s", duration: "2s", drain: "1s" };
	const { result } = await measured(load, { ...NOOP, sla: "[p99 < 1ms]" }, { exit: [4] });
	expect(told("8 000 000/s on noop", result).get("offered")).toBe("invalid");
});

test("a receiver that stands still for a second is INVALID, not a slow broker", async () => {
	const folder = temporaryFolder();
	const load = { rate: "1000/s", warmup: "1s", duration: "8s" };
	const env = { MQBENCH_K6: await k6WithSlowReceiver(folder) };
	const { result, run } = await measured(load, { sla: "[p99 < 100ms]" }, { env, exit: [4] });
	const held = run.series.ticks.flatMap((t) => t.held ?? []);
	expect(Math.max(...held)).toBeGreaterThan(500);
	expect(held.at(-1)).toBeLessThan(500);
	expect(told("a receiver that stood still", result).get("held")).toBe("invalid");
	expect(result.gates[0]?.code).toBe("late-by-held");
});

test("a CPU quota that throttles is told", async () => {
	// Version 2 of cgroups has all controllers in one folder.
	const old = existsSync("/sys/fs/cgroup/cpu");
	const group = `/sys/fs/cgroup/${old ? "cpu/" : ""}mqbench-acceptance`;
	mkdirSync(group, { recursive: true });
	onTestFinished(() => rmdirSync(group));
	const limits = old
		? { "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "30000" }
		: { "cpu.max": "30000 100000" };
	for (const [name, value] of Object.entries(limits)) writeFileSync(path.join(group, name), value);
	const under = ["sh", "-c", `echo $$ > ${group}/cgroup.procs; exec "$@"`, "sh"];
	const load = { rate: "20000/s", warmup: "1s", duration: "4s" };
	const { result } = await measured(load, {}, { under, exit: [0, 4, 6, 99] });
	expect(result.environment?.cpuQuotaCores).toBeCloseTo(0.3);
	expect(told("quota of 0.3 cores", result).get("cpuQuota")).toBe("warn");
});

test("a clock source that is too slow to read makes the measurement INVALID", async () => {
	const fake = path.join(temporaryFolder(), "clocksource");
	writeFileSync(fake, "hpet\n");
	const source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	const line = `mount --bind ${fake} ${source} && exec "$@"`;
	const under = ["unshare", "--mount", "sh", "-c", line, "sh"];
	const { result } = await measured({}, {}, { under, exit: [4] });
	expect(told("hpet", result).get("clockSource")).toBe("invalid");
});

test("an SLA with abort stops a run that cannot pass any more", async () => {
	const load = { rate: "1000/s", warmup: "1s", duration: "60s" };
	const began = performance.now();
	const sla = "[{ expect: p99 < 1us, abort: true }]";
	const { err } = await measured(load, { sla }, { exit: [99] });
	const seconds = (performance.now() - began) / 1000;
	process.stdout.write(`aborted after ${seconds.toFixed(1)} s of 61\n`);
	expect(err).toMatch(/Stopped: p99 < 1us cannot be met any more/);
	expect(seconds).toBeLessThan(30);
});

test("five healthy quickstarts in a row pass, and no check speaks up unless somebody else had the machine", async () => {
	const loud: string[] = [];
	let alone = 0;
	let disturbed = 0;
	for (let i = 1; alone < 5 && i <= 10; i++) {
		const before = await idleShare();
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const { code, err } = await run([QUICKSTART, "--floor", "--out", out]);
		const idle = Math.min(before, await idleShare());
		const result = resultOf(out);
		const checks = told(`quickstart ${i}, ${Math.round(idle * 100)} % idle, exit ${code}`, result);
		// Other programs on the machine may cost the run its verdict, nothing else.
		expect([0, 4, 6, 99], err).toContain(code);
		if (checks.get("steal") === "warn") continue; // other machines are not seen in what is idle here
		if (othersHadTheMachine(result)) {
			if (idle > IDLE) disturbed++;
			continue;
		}
		// The floor is measured after the run: no check covers programs that start then.
		if (idle < IDLE) continue;
		alone++;
		expect(code).toBe(0);
		for (const [name, status] of checks) if (status !== "ok") loud.push(`${i}: ${name} ${status}`);
	}
	// A governor that the machine hides is unknown; a warning on a healthy run would be a false alarm.
	expect(loud.filter((line) => !line.endsWith("unknown"))).toEqual([]);
	// So would be other programs on a machine that was idle before and after; now and then there are some in between.
	expect(disturbed).toBeLessThanOrEqual(3);
}, 3_600_000);

// --- internal ---

/** The idle share of a machine. */
const IDLE = 0.9;

/** The idle share of the machine, over a second. */
async function idleShare(): Promise<number> {
	const read = () => {
		const times = cpus().map((cpu) => cpu.times);
		return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap(Object.values)) };
	};
	const began = read();
	await sleep(1000);
	const ended = read();
	return (ended.idle - began.idle) / (ended.all - began.all);
}

/** The checks of the first run, printed because people read acceptance figures. */
function told(what: string, { runs }: Result): Map<string, string> {
	const checks = new Map((runs[0]?.validity ?? []).map(({ check, status }) => [check, status]));
	const loud = [...checks].filter(([, status]) => status !== "ok").map((pair) => pair.join(" "));
	process.stdout.write(`${what}: ${loud.join(", ") || "all checks ok"}\n`);
	return checks;
}

/** The other programs, and a k6 whose NATS driver sleeps for a second in one of its handlers, 4 s after the first message. */
async function k6WithSlowReceiver(folder: string): Promise<string> {
	const extensions = path.join(packageFolder, "extensions");
	const driver = path.join(extensions, "xk6-nats");
	const replaced: Record<string, string> = {};
	const overlay = (name: string, text: string) => {
		const at = path.join(folder, name);
		writeFileSync(at, text);
		replaced[path.join(driver, name)] = at;
	};
	const handler = "func(m *nats.Msg) {\n";
	const source = readFileSync(path.join(driver, "nats.go"), "utf8");
	expect(source).toContain(handler);
	overlay("nats.go", source.replace(handler, `${handler}standStill()\n`));
	overlay(
		"stand_still.go",
		`package nats
import ("sync"; "time")
var began = sync.OnceValue(time.Now)
var once sync.Once
func standStill() {
	if time.Since(began()) > 4*time.Second {
		once.Do(func() { time.Sleep(time.Second) })
	}
}
`,
	);
	const list = path.join(folder, "overlay.json");
	writeFileSync(list, JSON.stringify({ Replace: replaced }));
	const k6 = path.join(folder, "k6");
	const build = ["build", ...BUILD_FLAGS, "-overlay", list, "-o", k6, "./cmd/k6"];
	const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "", GOWORK: "off" };
	execFileSync("go", build, { cwd: extensions, env, stdio: "ignore" });
	const binaries = await realBinaries();
	for (const name of ["agent", "nats-server"])
		symlinkSync(await pathOf(binaries, name), path.join(folder, name));
	return k6;
}

/** Burns a core until the test is over. */
function hog(): void {
	const child = spawn("sh", ["-c", "while :; do :; done"], { stdio: "ignore" });
	onTestFinished(() => void child.kill("SIGKILL"));
}
