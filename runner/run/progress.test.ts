import { describe, expect, test } from "vitest";
import type { Plan } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { displayWidth } from "../terminal/columns.ts";
import { screen } from "../terminal/screen.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { liveRows } from "./live.ts";
import { makeProgress, type Onlooker } from "./progress.ts";
import type { End, ProgressLine, Tick } from "./progress-line.ts";

const plans = expand(
	loadScenario(
		"scenario.yaml",
		"system: nats\nrepeat: 2\nworkload: {rate: 3000/s, message: 256B, warmup: 5s, duration: 10s}\n",
	),
	{ runId: "test" },
);
const [plan] = plans as [Plan];

/** With two latency lines: 1 % of 30 000 messages may be over the first. */
const judgedPlans = expand(
	loadScenario(
		"scenario.yaml",
		"system: nats\nrepeat: 2\nworkload: {rate: 3000/s, message: 256B, warmup: 5s, duration: 10s}\nsla: [p99 < 20ms, max < 1s, lost == 0]\n",
	),
	{ runId: "test" },
);
const [judged] = judgedPlans as [Plan];

const tick = (parts: object = {}): ProgressLine => ({
	mqbench: "tick",
	at: 7,
	sent: 3000,
	received: 3000,
	failed: 0,
	duplicated: 0,
	over: [],
	p50: 60_000,
	p99: 1_500_000,
	...parts,
});

/** What a generator of today tells as well. */
const figures = {
	metric: "response",
	acked: null,
	window: { count: 6000, p50: 61_000, p99: 1_400_000, max: 12_000_000 },
} as const;

/** A progress on a terminal of so many columns, or none, and what it wrote. */
function progress({
	isTTY = false,
	quiet = false,
	columns = 80,
	rows = 24,
	env = {},
	stop = new AbortController().signal,
	onlooker = null,
}: {
	isTTY?: boolean;
	quiet?: boolean;
	columns?: number;
	rows?: number;
	env?: Record<string, string>;
	stop?: AbortSignal;
	onlooker?: Onlooker | null;
} = {}) {
	let ms = 0;
	const world = fakeWorld({ clock: { nowMs: () => 0, monotonicMs: () => ms }, env, stop });
	Object.assign(world.stderr, { isTTY, columns, rows });
	return {
		made: makeProgress(world, quiet, onlooker),
		err: world.err,
		out: world.out,
		resize: (to: number) => Object.assign(world.stderr, { columns: to }),
		screen: () => screen(world.err()),
		later: (by: number) => {
			ms += by;
		},
	};
}

describe("a run that nobody watches", () => {
	test("is a line as it begins and a line a second", () => {
		const { made, err, out } = progress();
		made.run(plan, plans.length);
		made.tick(plan, { mqbench: "start", t0UnixNs: "1" });
		made.tick(plan, tick({ at: 1 }));
		made.tick(plan, tick(figures));
		made.tick(plan, tick({ ...figures, at: 16, sent: 0, failed: 7 }));
		made.tick(plan, { mqbench: "end", state: "complete" });
		made.done();
		expect(err()).toBe(
			[
				"[1/2] nats: 256B 3000/s, repeat 1/2 (3000/s, 5s warm-up, 10s measured)",
				"  1s/15s warm-up  sent 3 000/s  received 3 000/s  nothing of the window yet",
				"  7s/15s measuring  sent 3 000/s  received 3 000/s  response p50 61us, p99 1.4ms, max 12ms",
				"  drain 1s of at most 30s  sent 0/s  received 3 000/s  failed 7  response p50 61us, p99 1.4ms, max 12ms",
				"",
			].join("\n"),
		);
		expect(out()).toBe("");
	});

	test("does not say that a drain takes longer than it may", () => {
		const { made, err } = progress();
		made.tick(plan, tick({ at: 46 }));
		expect(err()).toContain("  the drain (30s) is over, waiting for the last results  sent ");
	});

	test("leaves what a floor came to to the report, which knows its best second", () => {
		const { made, err } = progress();
		made.floor(plan);
		made.tick(plan, { mqbench: "end", state: "complete", ...figures });
		expect(err()).toMatch(/^Floor, .*\n$/);
	});

	test("says what the window came to in the end", () => {
		const { made, err } = progress();
		made.tick(plan, {
			mqbench: "end",
			state: "complete",
			...figures,
			window: { ...figures.window, count: 30_000 },
		});
		expect(err()).toBe("  response of 30 000 messages: p50 61us, p99 1.4ms, max 12ms\n");
	});

	test("with messages that did not come back gives no percentiles of the others in the end", () => {
		const { made, err } = progress();
		made.tick(plan, { mqbench: "end", state: "complete", ...figures });
		expect(err()).toBe("  6 000 of 30 000 messages have a response time\n");
	});

	test("that was stopped has no end to tell of", () => {
		const { made, err } = progress();
		made.tick(plan, { mqbench: "end", state: "interrupted", ...figures });
		expect(err()).toBe("");
	});

	test("does not fill a log in an hour", () => {
		const long = (durationNs: number) => ({
			...plan,
			schedule: { ...plan.schedule, warmupNs: 0, durationNs },
		});
		const lines = (durationNs: number) => {
			const { made, err } = progress();
			for (let at = 1; at <= durationNs / 1e9; at++) made.tick(long(durationNs), tick({ at }));
			return err().split("\n").length - 1;
		};
		expect(lines(60e9)).toBe(60);
		expect(lines(600e9)).toBe(121);
		expect(lines(3600e9)).toBe(121);
	});

	test("says so when its results cannot be written", () => {
		const { made, err } = progress();
		made.tick(plan, tick({ error: "no space left\x1b[2J on device" }));
		expect(err()).toContain("CANNOT WRITE RESULTS: no space left on device");
	});

	test.each([
		[3, 2, false, "[3] "],
		[3, 2, true, "[3] "],
		[2, 2, false, "[2/2] "],
		[1, 1, false, ""],
	])("number %d of %d known ones, of a search: %s, begins with %j", (index, of, searches, text) => {
		const { made, err } = progress();
		const search = searches ? ({} as Plan["search"]) : null;
		made.run({ ...plan, index, search }, of);
		expect(err()).toMatch(new RegExp(`^${text.replace(/[[\]]/g, "\\$&")}nats: `));
	});

	test("says so when an SLA line has more over its limit than it may", () => {
		const { made, err } = progress();
		made.tick(judged, tick({ over: [301, 0] }));
		made.tick(judged, tick({ over: [300, 0] }));
		const [broken, met] = err().split("\n");
		expect(broken).toMatch(/p99 < 20ms: 301 over, 300 allowed: TOO MANY$/);
		expect(met).not.toContain("TOO MANY");
	});

	test("tells the part of a backlog that is called drain from the drain after the window", () => {
		const { made, err } = progress();
		const phases = [{ name: "drain", fromNs: 2e9, toNs: 10e9 }];
		for (const at of [8, 15, 16]) made.tick({ ...plan, phases }, tick({ at }));
		expect(err().match(/\S+ drain |drain \S+ of at most/g)).toEqual([
			"8s/15s drain ",
			"15s/15s drain ",
			"drain 1s of at most",
		]);
	});

	test("is silent when quiet is asked for", () => {
		const { made, err, out } = progress({ quiet: true, isTTY: true });
		made.run(plan, 1);
		made.tick(plan, tick(figures));
		made.build.begin(null);
		made.build.step("modules", 1, 2);
		made.build.end();
		made.say("news");
		made.done();
		expect(err() + out()).toBe("");
	});

	test("is plain on a terminal that cannot move its cursor", () => {
		const { made, err } = progress({ isTTY: true, env: { TERM: "dumb" } });
		made.tick(plan, tick(figures));
		expect(err()).not.toContain("\x1b");
	});
});

describe("a run of several clients", () => {
	const three = { ...plan, client: { index: 0, count: 3 } };
	const merged = (parts: object = {}) =>
		tick({ ...figures, merged: { clients: 3, silent: [], fewest: 400 }, ...parts }) as Tick;

	test("says how many they are, and that percentiles are those of the worst one", () => {
		const { made, err } = progress();
		made.run(three, 1);
		made.tick(three, merged());
		made.tick(three, merged({ at: 8, window: null }));
		expect(err()).toBe(
			[
				"nats: 256B 3000/s, repeat 1/2 (3000/s, 5s warm-up, 10s measured, 3 clients)",
				"  7s/15s measuring  sent 3 000/s  received 3 000/s  response p50 61us, p99 ~1.4ms, max 12ms, worst of 3 clients",
				"  8s/15s measuring  sent 3 000/s  received 3 000/s  nothing of the window yet",
				"",
			].join("\n"),
		);
	});

	test("tells in the end how many messages there are, and no percentiles: those of each are not those of all", () => {
		const { made, err } = progress();
		made.tick(three, {
			mqbench: "end",
			state: "complete",
			...figures,
			window: { ...figures.window, count: 30_000 },
			merged: { clients: 3, silent: [], fewest: 10_000 },
		} as End);
		expect(err()).toBe("  all 30 000 messages of 3 clients have a response time\n");
	});
});

describe("a run that is watched", () => {
	const watched = (parts: Parameters<typeof progress>[0] = {}) => {
		const all = progress({ isTTY: true, ...parts });
		all.made.expect(judgedPlans);
		all.made.run(judged, plans.length);
		return all;
	};
	const shown = (lines: readonly string[]) => lines.join("\n").trimEnd();

	test("is a few lines that say how far it is, and what was measured so far", () => {
		const { made, screen, later } = watched();
		for (let at = 1; at <= 7; at++) {
			later(1000);
			made.tick(judged, tick({ at, ...figures, over: [3, 0] }));
		}
		expect(shown(screen().lines)).toBe(
			[
				"[1/2] nats: 256B 3000/s, repeat 1/2 (3000/s, 5s warm-up, 10s measured)",
				"  time      8s left of 15s (measuring), run 1 of 2, about 28s in all",
				"  rate      scheduled 3 000/s, sent 3 000/s, received 3 000/s",
				"  response  p50 61us, p99 1.4ms, max 12ms",
				"  SLA       p99 < 20ms: 297 of 300 may still take longer",
			].join("\n"),
		);
	});

	test("on a narrow terminal breaks its rows between words", () => {
		const { made, screen } = watched({ columns: 40 });
		made.tick(judged, tick({ ...figures, failed: 7, over: [301, 0] }));
		expect(shown(screen().lines.slice(2))).toBe(
			[
				"  time      8s left of 15s (measuring),",
				"            run 1 of 2, about 28s in",
				"            all",
				"  rate      scheduled 3 000/s, sent",
				"            3 000/s, received 3 000/s,",
				"            failed 7",
				"  response  p50 61us, p99 1.4ms, max",
				"            12ms",
				"  SLA       p99 < 20ms: 301 over, 300",
				"            allowed: TOO MANY",
			].join("\n"),
		);
	});

	test("whose SLA allows nothing over its limit says so", () => {
		const { made, screen } = watched();
		const onlyMax = { ...judged, sla: judged.sla.filter(({ kind }) => kind === "max") };
		made.tick(onlyMax, tick(figures));
		expect(shown(screen().lines)).toContain("max < 1s: none may take longer");
	});

	test("leaves its title and what the window came to, and the cursor on the line below", () => {
		const { made, screen } = watched();
		made.tick(judged, tick(figures));
		made.tick(judged, { mqbench: "end", state: "complete" });
		made.say("news");
		made.tick(judged, tick({ at: 8 }));
		made.done();
		const { lines, cursor, visible, unknown } = screen();
		expect(lines).toEqual([
			"[1/2] nats: 256B 3000/s, repeat 1/2 (3000/s, 5s warm-up, 10s measured)",
			"news",
			"",
		]);
		expect(cursor).toEqual({ row: 2, column: 0 });
		expect(visible).toBe(true);
		expect(unknown).toEqual([]);
	});

	test("has sentences that stay broken at blanks, and is the same in a log", () => {
		const text = "a broker that did not start ".repeat(5).trim();
		const { made, screen } = watched({ columns: 40 });
		made.say(`  ${text}`);
		const { lines } = screen();
		for (const line of lines) expect(displayWidth(line)).toBeLessThan(41);
		expect(lines.join(" ").replaceAll(/ +/g, " ")).toContain(text);
		const log = progress();
		log.made.say(`  ${text}`);
		expect(log.err()).toBe(`  ${text}\n`);
	});

	test("leaves a usable terminal at any moment: who is killed restores nothing", () => {
		const { made, err, screen } = watched();
		for (let at = 1; at <= 5; at++) {
			made.tick(judged, tick({ at, ...figures }));
			const { cursor, lines, visible } = screen();
			expect(cursor).toEqual({ row: lines.length - 1, column: 0 });
			expect(lines.at(-1)).toBe("");
			expect(visible).toBe(true);
		}
		expect(err()).not.toContain("\x1b[?25l");
	});

	test.each([30, 40, 60, 80, 100, 160])(
		"keeps to %d columns whatever its names hold",
		(columns) => {
			const { made, screen } = watched({ columns });
			const hostile = {
				...judged,
				sla: judged.sla.map((s) => ({ ...s, text: "p99 🚀\n\x1b[2J<b>".repeat(30) })),
			};
			for (let at = 1; at < 20; at++)
				made.tick(hostile, tick({ at, ...figures, error: "x".repeat(300), over: [9e9, 9] }));
			const { frames, unknown } = screen();
			for (const lines of frames)
				for (const line of lines.slice(1)) expect(displayWidth(line)).toBeLessThan(columns);
			expect(unknown).toEqual([]);
		},
	);

	test("never draws more lines than the terminal has: those above could not be rewritten", () => {
		const { made, screen } = watched({ rows: 6 });
		made.tick(judged, tick(figures));
		expect(screen().lines.length).toBeLessThanOrEqual(6);
	});

	test("finds its lines again when the terminal became narrower and broke them", () => {
		const { made, err, resize } = watched({ columns: 100 });
		made.tick(judged, tick(figures));
		const drawn = screen(err()).lines.slice(1, -1);
		resize(40);
		made.tick(judged, tick({ at: 8, ...figures }));
		const rows = drawn
			.map((line) => Math.max(1, Math.ceil(displayWidth(line) / 40)))
			.reduce((a, b) => a + b, 0);
		expect(rows).toBeGreaterThan(drawn.length);
		expect(err()).toContain(`\r\x1b[${rows}A`);
	});

	test("says that it stops as soon as somebody asked for it", () => {
		const stop = new AbortController();
		const { made, screen } = watched({ stop: stop.signal });
		stop.abort("SIGINT");
		made.tick(judged, tick(figures));
		expect(shown(screen().lines)).toContain("stopping: waiting for the last results\n");
	});

	test("has n/a for percentiles that few messages do not carry, and nothing of the window before it opens", () => {
		const { made, screen } = watched();
		made.tick(judged, tick({ ...figures, window: null, at: 3 }));
		expect(shown(screen().lines)).toContain("nothing of the window yet");
		made.tick(judged, tick({ ...figures, window: { ...figures.window, count: 400 } }));
		expect(shown(screen().lines)).toContain("p50 61us, p99 ~1.4ms, max");
		made.tick(judged, tick({ ...figures, window: { ...figures.window, count: 100 } }));
		expect(shown(screen().lines)).toContain("p99 n/a");
	});

	test("of a closed load says how many messages are sent, and how long the others take", () => {
		const [closed] = expand(
			loadScenario(
				"scenario.yaml",
				"system: nats\nworkload: {messages: 10000, message: 256B, warmup: 0}\n",
			),
			{ runId: "test" },
		);
		if (!closed) throw new Error("another scenario");
		const { made, screen } = progress({ isTTY: true });
		made.run(closed, 1);
		made.tick(closed, tick({ ...figures, metric: "service", at: 1, sent: 2500 }));
		const text = shown(screen().lines);
		expect(text).toContain("measuring, 1s: 2 500 of 10 000 messages sent, about 3s left");
		expect(text).toMatch(/service +p50 61us/);
		expect(text).not.toContain("scheduled");
	});
});

describe("an onlooker", () => {
	test.each([true, false])(
		"is told the words of the terminal, also where that is quiet (%s)",
		(quiet) => {
			const seen: string[] = [];
			const onlooker: Onlooker = {
				say: (text) => void seen.push(text),
				begin: (title) => void seen.push(`begin ${title}`),
				second: (live) =>
					void seen.push(...liveRows(live).map(([label, parts]) => [label, ...parts].join("|"))),
			};
			const { made, err } = progress({ quiet, onlooker });
			made.build.step("modules", 1, 2);
			made.run(judged, 1);
			made.tick(judged, tick(figures));
			expect(err() === "").toBe(quiet);
			const title = "nats: 256B 3000/s, repeat 1/2 (3000/s, 5s warm-up, 10s measured)";
			expect(seen).toEqual([
				"  modules 1/2",
				`begin ${title}`,
				title,
				"time|8s left of 15s (measuring)",
				"rate|scheduled 3 000/s|sent 3 000/s|received 3 000/s",
				"response|p50 61us|p99 1.4ms|max 12ms",
				"SLA|p99 < 20ms: 300 of 300 may still take longer",
			]);
		},
	);
});

describe("a build", () => {
	test("for hosts of another platform says so", () => {
		const { made, err } = progress();
		made.build.begin(null, "linux/arm64");
		expect(err()).toContain(" with Go for linux/arm64 hosts. This happens once,");
		const { made: own, err: said } = progress();
		own.build.begin(null);
		expect(said()).not.toContain("hosts");
	});

	test("says why it takes long, each phase, and something every 10 s, where nobody watches", () => {
		const { made, err, later } = progress();
		made.build.begin(null);
		made.build.step("modules", 0, 97);
		for (let i = 1; i <= 97; i++) {
			later(250);
			made.build.step("modules", i, 97);
		}
		made.build.step("modules", 97, 97);
		made.build.step("packages", 0, 800);
		later(500);
		made.build.step("packages", 800, 800);
		made.build.end();
		expect(err().split("\n").slice(1)).toEqual([
			"  modules 0/97",
			"  modules 40/97",
			"  modules 80/97",
			"  modules 97/97",
			"  packages 0/800",
			"  packages 800/800",
			"Built in 24.8s, and kept in the cache.",
			"",
		]);
		expect(err()).toMatch(/^Building the load generator .*\. This happens once/);
	});

	test("rewrites one line on a terminal", () => {
		const { made, err } = progress({ isTTY: true });
		made.build.step("modules", 1, 2);
		made.build.step("modules", 2, 2);
		made.build.end();
		const { lines, frames } = screen(err());
		expect(frames.map((frame) => frame[0])).toContain("  modules 1/2");
		expect(frames.map((frame) => frame[0])).toContain("  modules 2/2");
		expect(lines[0]).toMatch(/^Built in /);
	});

	test("says whom it waits for", () => {
		const { made, err } = progress();
		made.build.waiting(42);
		expect(err()).toBe(
			"Another mqbench (pid 42) is building the load generator; waiting for it.\n",
		);
	});
});
