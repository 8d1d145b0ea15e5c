import { describe, expect, test } from "vitest";
import { failure } from "../errors.ts";
import { checks } from "./checks.ts";
import { examine, type Finding, renderFindings, worst } from "./finding.ts";
import { type FakeMachineParts, fakeMachine } from "./machine.fake.ts";

async function finding(name: string, parts: FakeMachineParts): Promise<Finding> {
	const row = checks.filter((check) => check.name === name);
	const [first] = await examine(fakeMachine(parts), row);
	if (!first) throw new Error(`no check ${name}`);
	return first;
}

const clock = "/sys/devices/system/clocksource/clocksource0";
const ms = 1_000_000;
const generator = (from: "build" | "cache") => async () =>
	from === "build"
		? ({ from, why: null, key: "abc", damaged: false } as const)
		: ({ from, why: null, key: "abc", go: "go1.26.8", ageMs: 7_200_000 } as const);

describe("a check says what it found", () => {
	const governor = (all: string) => ({ governor: async () => all });
	const ticks = (source: string) => ({ files: { [`${clock}/current_clocksource`]: source } });
	const steal = (idle: number, stolen: number) => ({
		files: { "/proc/stat": `cpu  50 0 50 ${idle} 0 0 0 ${stolen} 0 0\ncpu0 1` },
	});
	const swap = (total: number, free: number) => ({
		files: { "/proc/meminfo": `SwapTotal: ${total} kB\nSwapFree:    ${free} kB` },
	});
	const wake = (...ns: number[]) => ({ wakeUp: async () => ns });
	const java = (version: string) => ({
		commands: { "java -version": `openjdk version "${version}"` },
	});
	const noGo = (from: "build" | "cache", error = failure("go-missing", { why: "" })) => ({
		generator: generator(from),
		go: () => Promise.reject(error),
	});
	const k6 = (found: Awaited<ReturnType<ReturnType<typeof fakeMachine>["generator"]>>) => ({
		generator: async () => found,
	});
	const redis = { "redis-server --version": "Redis server v=7.0.15 sha=0" };
	const daemon = { "docker version --format {{.Server.Version}}": "27.1.0" };

	test.each<[string, FakeMachineParts, Finding["verdict"], string]>([
		["governor", governor("performance"), "ok", "performance"],
		["governor", governor("performance, powersave"), "warn", "performance, powersave"],
		["governor", {}, "unknown", "unknown"],
		["cores", { cores: 4 }, "ok", "4 cores"],
		["cores", { cores: 2 }, "warn", "2 cores"],
		["cores", { cores: 1 }, "bad", "1 core"],
		["CPU quota", {}, "ok", "none"],
		["CPU quota", { cpuQuotaCores: 1.5 }, "warn", "1.5 of 8 cores"],
		["clock source", ticks("tsc"), "ok", "tsc"],
		["clock source", ticks("kvm-clock"), "ok", "kvm-clock"],
		["clock source", ticks("xen"), "warn", "xen"],
		["clock source", ticks("hpet"), "bad", "hpet"],
		["clock source", ticks("acpi_pm"), "bad", "acpi_pm"],
		["clock source", ticks("refined-jiffies"), "bad", "refined-jiffies"],
		["steal", steal(880, 20), "ok", "2 % since boot"],
		["steal", steal(850, 50), "warn", "5 % since boot"],
		["wake-up", wake(60_000, 70_000, 80_000), "ok", "p50 70us, p99 80us"],
		["wake-up", wake(60_000, 70_000, 4 * ms), "warn", "p50 70us, p99 4ms"],
		["swap", swap(0, 0), "ok", "0B in use"],
		["swap", swap(1_048_576, 1_048_576), "ok", "0B in use"],
		["swap", swap(1_048_576, 524_288), "warn", "512MiB in use"],
		["Go", { generator: generator("build"), go: async () => "go1.26.8" }, "ok", "go1.26.8"],
		["Go", noGo("cache"), "info", "not found"],
		["Go", noGo("build"), "bad", "not found"],
		["Go", noGo("build", failure("interrupted", { signal: "TimeoutError" })), "unknown", "unknown"],
		["generator", { generator: generator("cache") }, "ok", "built 2h ago with go1.26.8"],
		["generator", { generator: generator("build") }, "info", "not built yet"],
		[
			"generator",
			k6({ from: "build", why: null, key: "abc", damaged: true }),
			"info",
			"damaged in the cache",
		],
		["generator", k6({ from: "MQBENCH_K6", k6: "/opt/k6" }), "ok", "/opt/k6"],
		["generator", k6({ from: "MQBENCH_K6", unusable: "no" }), "bad", "unusable"],
		["NATS", {}, "ok", "built in"],
		["Kafka", { ...java("17.0.15"), programs: ["mvn"] }, "ok", "Java 17.0.15, Maven"],
		["Kafka", java("17.0.15"), "info", "Java 17.0.15, no Maven"],
		["Kafka", {}, "info", "no Java, no Maven"],
		["Kafka", java("1.8.0_401"), "info", "Java 1.8.0_401, no Maven"],
		["Redis", { commands: redis, programs: ["redis-server"] }, "ok", "redis-server 7.0.15"],
		["Redis", {}, "info", "not found"],
		["RabbitMQ", { programs: ["rabbitmq-server"] }, "ok", "/usr/bin/rabbitmq-server"],
		["RabbitMQ", {}, "info", "not found"],
		["Docker", { commands: daemon }, "ok", "27.1.0"],
		["Docker", {}, "info", "no engine answers this user"],
		["disk here", { free: 5 * 1024 ** 3 }, "ok", "5GiB free"],
		["disk here", { free: 500 * 1024 ** 2 }, "warn", "500MiB free"],
		["disk here", { free: 1024 }, "bad", "1KiB free"],
	])("%s, given %j: %s, %s", async (name, parts, verdict, figure) => {
		const found = await finding(name, parts);
		expect(found).toMatchObject({ verdict, figure });
		expect(found.remedy !== null).toBe(verdict === "warn" || verdict === "bad");
		expect(found.sentence).toMatch(/^[A-Zmk].*\.$/s);
	});

	test("the load is that between two looks at /proc/stat", async () => {
		const load = (busy: number) => {
			const texts = ["cpu  100 0 0 900 0 0 0 0", `cpu  ${100 + busy} 0 0 ${1000 - busy} 0 0 0 0`];
			const machine = fakeMachine();
			return examine(
				{
					...machine,
					read: async (file) =>
						file === "/proc/stat" ? (texts.shift() ?? null) : machine.read(file),
				},
				checks.filter(({ name }) => name === "load"),
			);
		};
		expect(await load(5)).toMatchObject([{ verdict: "ok", figure: "5 % busy" }]);
		expect(await load(60)).toMatchObject([{ verdict: "warn", figure: "60 % busy" }]);
	});
});

describe("doctor never fails", () => {
	test("on a machine of which nothing can be read every line is there", async () => {
		const found = await examine(fakeMachine(), checks);
		expect(found.length).toBeGreaterThanOrEqual(checks.length);
		expect(worst(found)).toBe("ok");
		expect(found.filter(({ verdict }) => verdict === "unknown").map(({ check }) => check)).toEqual([
			"load",
			"wake-up",
			"governor",
			"clock source",
			"steal",
			"swap",
			"disk of the cache",
			"disk for temporary files",
			"disk here",
			"generator",
			"Go",
		]);
	});

	test("what measures time runs alone, one after the other, before the rest", async () => {
		const events: string[] = [];
		const check = (name: string, alone: boolean) => ({
			name,
			...(alone && { alone: true as const }),
			async read() {
				events.push(`${name} begins`);
				await new Promise((resolve) => setImmediate(resolve));
				events.push(`${name} ends`);
				return null;
			},
		});
		const found = await examine(fakeMachine(), [
			check("b", false),
			check("t", true),
			check("c", false),
			check("u", true),
		]);
		expect(found.map(({ check: name }) => name)).toEqual(["b", "t", "c", "u"]);
		expect(events).toEqual([
			"t begins",
			"t ends",
			"u begins",
			"u ends",
			"b begins",
			"c begins",
			"b ends",
			"c ends",
		]);
	});
});

describe("the findings as text", () => {
	const bad: Finding = {
		check: "clock source",
		verdict: "bad",
		figure: "hpet",
		sentence: "Every stamp is wrong.",
		remedy: "first\nsecond",
	};
	const cores: Finding = {
		check: "cores",
		verdict: "ok",
		figure: "8 cores",
		sentence: "Enough.",
		remedy: null,
	};
	const options = { columns: 60, colour: false };

	test("verdict, figure, sentence, remedy, and what they come to", () => {
		expect(renderFindings([cores, bad], options)).toBe(
			`ok       cores: 8 cores. Enough.
bad      clock source: hpet. Every stamp is wrong.
           Remedy: first
           second

Do not measure here until everything that is bad is fixed.
(1 bad)
`,
		);
	});

	test("stays within the terminal", async () => {
		for (const columns of [60, 80, 132]) {
			const found = await examine(fakeMachine({ cores: 2 }), checks);
			const text = renderFindings(found, { columns, colour: false });
			for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(columns);
		}
	});

	test("the worst decides; info and unknown say nothing against a machine", () => {
		const of = (...verdicts: Finding["verdict"][]) =>
			worst(verdicts.map((verdict) => ({ ...bad, verdict })));
		expect([of(), of("info", "unknown"), of("ok", "warn"), of("warn", "bad", "ok")]).toEqual([
			"ok",
			"ok",
			"warn",
			"bad",
		]);
	});
});
