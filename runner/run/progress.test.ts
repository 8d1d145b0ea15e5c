import { describe, expect, test } from "vitest";
import type { Plan } from "../model/plan.ts";
import { planOf, plansOf } from "../plan/plans.fake.ts";
import { displayWidth } from "../terminal/columns.ts";
import { screen } from "../terminal/screen.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { endOf, tickOf } from "./fleet.fake.ts";
import { liveRows } from "./live.ts";
import { makeProgress, type ProgressListener } from "./progress.ts";
import type { Tick } from "./progress-line.ts";

const LOAD = "rate: 3000/s, warmup: 5s, duration: 10s";
const HEAD = "system: nats\nrepeat: 2";
const plan = planOf(LOAD, HEAD);
/** With two latency lines: 1 % of 30 000 messages may be over the first. */
const judged = planOf(LOAD, `${HEAD}\nsla: [p99 < 20ms, max < 1s, lost == 0]`);
const TITLE = "nats: 256B 3000/s, repeat 1/2 (3000/s, 5s warm-up, 10s measured)";

const window = { count: 6000, p50: 61_000, p99: 1_400_000, max: 12_000_000 };
const tick = (parts: Partial<Tick> = {}) =>
	tickOf({ at: 7, sent: 3000, received: 3000, window, over: [0, 0], ...parts });

function progress({
	isTTY = false,
	quiet = false,
	columns = 80,
	rows = 24,
	env = {},
	stop = new AbortController().signal,
	listener = null,
}: {
	isTTY?: boolean;
	quiet?: boolean;
	columns?: number;
	rows?: number;
	env?: Record<string, string>;
	stop?: AbortSignal;
	listener?: ProgressListener | null;
} = {}) {
	let ms = 0;
	const world = fakeWorld({ clock: { nowMs: () => 0, monotonicMs: () => ms }, env, stop });
	Object.assign(world.stderr, { isTTY, columns, rows });
	return {
		made: makeProgress(world, quiet, listener),
		err: world.err,
		out: world.out,
		resize: (to: number) => Object.assign(world.stderr, { columns: to }),
		screen: () => screen(world.err()),
		later: (by: number) => {
			ms += by;
		},
	};
}

describe("loads beside a run", () => {
	const [main, bulk] = plansOf(`${HEAD}
workload: { message: 256B, ${LOAD} }
background: { bulk: { rate: 100/s, message: 1KiB, start: 5s } }
`) as [Plan, Plan];

	test("are listed as it begins, count as one run, and have a row each below the main load's", () => {
		const { made, err } = progress();
		made.run(main, 2, [bulk]);
		made.tick(bulk, tick({ at: 2, sent: 100, received: 99 }));
		made.tick(main, tick());
		expect(err().split("\n").slice(0, 3)).toEqual([
			"[1/2] nats: 256B 3000/s, repeat 1/2 (3000/s, 5s warm-up, 10s measured)",
			"  beside it nats: 256B 3000/s, bulk, repeat 1/2 (100/s, 0s warm-up, 5s measured)",
			"  7s/15s before bulk, 8s left; scheduled 3 000/s, sent 3 000/s, received 3 000/s; response p50 61us, p99 1.4ms, max 12ms; bulk sent 100/s, received 99/s, response p50 61us, p99 1.4ms, max 12ms",
		]);
		made.run({ ...main, index: 3 }, 2, [bulk]);
		expect(err()).toContain("[2/2] nats: 256B");
	});
});

describe("a run that nobody watches", () => {
	test("is a line as it begins and a line a second", () => {
		const { made, err, out } = progress();
		made.run(plan, 2);
		made.tick(plan, { mqbench: "start", t0UnixNs: "1" });
		made.tick(plan, tick({ at: 1, window: null }));
		made.tick(plan, tick());
		made.tick(plan, tick({ at: 16, failed: 7 }));
		made.tick(plan, tick({ at: 17, sent: 0, failed: 7 }));
		made.tick(
			plan,
			tick({ at: 46, sent: 0, window: null, error: "no space left\x1b[2J on device" }),
		);
		made.done();
		expect(err()).toBe(
			[
				`[1/2] ${TITLE}`,
				"  1s/15s warm-up, 14s left; scheduled 3 000/s, sent 3 000/s, received 3 000/s; response nothing of the window yet",
				"  7s/15s measuring, 8s left; scheduled 3 000/s, sent 3 000/s, received 3 000/s; response p50 61us, p99 1.4ms, max 12ms",
				"  16s sending the last of 45 000 messages; sent 3 000/s, received 3 000/s, failed 7; response p50 61us, p99 1.4ms, max 12ms",
				"  drain 2s of at most 30s; sent 0/s, received 3 000/s, failed 7; response p50 61us, p99 1.4ms, max 12ms",
				"  the drain (30s) is over, waiting for the last results; sent 0/s, received 3 000/s; response nothing of the window yet; ERROR CANNOT WRITE RESULTS: no space left on device",
				"",
			].join("\n"),
		);
		expect(out()).toBe("");
	});

	const whole = { ...window, count: 30_000 };
	test.each([
		[{ window: whole }, "  response of 30 000 messages: p50 61us, p99 1.4ms, max 12ms\n"],
		// Percentiles of the others would flatter the run.
		[{ window }, "  6 000 of 30 000 messages have a response time\n"],
		[{ window, state: "interrupted" as const }, ""],
	])("says what the window came to in the end (%#)", (parts, text) => {
		const { made, err } = progress();
		made.tick(plan, endOf(parts));
		expect(err()).toBe(text);
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
		expect([60e9, 600e9, 3600e9].map(lines)).toEqual([60, 121, 121]);
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
		expect(err().startsWith(`${text}nats: `)).toBe(true);
	});

	test("tells the part of a backlog that is called drain from the drain after the window", () => {
		const { made, err } = progress();
		const phases = [{ name: "drain", fromNs: 2e9, toNs: 10e9 }];
		for (const at of [8, 15, 16])
			made.tick({ ...plan, phases }, tick({ at, sent: at > 15 ? 0 : 1 }));
		expect(err().match(/\S+ drain,|drain \S+ of at most/g)).toEqual([
			"8s/15s drain,",
			"15s/15s drain,",
			"drain 1s of at most",
		]);
	});

	test("is silent when quiet is asked for", () => {
		const { made, err, out } = progress({ quiet: true, isTTY: true });
		made.run(plan, 1);
		made.tick(plan, tick());
		made.build.step("modules", 1, 2);
		made.say("news");
		made.done();
		expect(err() + out()).toBe("");
	});

	test("is plain on a terminal that cannot move its cursor", () => {
		const { made, err } = progress({ isTTY: true, env: { TERM: "dumb" } });
		made.tick(plan, tick());
		expect(err()).not.toContain("\x1b");
	});

	test("says how many clients there are, and that percentiles are those of the worst one", () => {
		const three = { ...plan, client: { index: 0, count: 3 } };
		const { made, err } = progress();
		made.run(three, 1);
		made.tick(three, tick({ merged: { clients: 3, silent: [], fewest: 400 } }));
		expect(err()).toContain("10s measured, 3 clients)\n");
		expect(err()).toContain("response p50 61us, p99 ~1.4ms, max 12ms, worst of 3 clients\n");
	});
});

describe("a run that is watched", () => {
	const watched = (parts: Parameters<typeof progress>[0] = {}) => {
		const all = progress({ isTTY: true, ...parts });
		all.made.run(judged, 2);
		return all;
	};
	const shown = (lines: readonly string[]) => lines.join("\n").trimEnd();

	test("is a few lines that say how far it is, and what was measured so far", () => {
		const { made, screen } = watched();
		for (let at = 1; at <= 7; at++) made.tick(judged, tick({ at, over: [3, 0] }));
		expect(shown(screen().lines)).toBe(
			[
				`[1/2] ${TITLE}`,
				"  time      7s/15s measuring, 8s left",
				"  rate      scheduled 3 000/s, sent 3 000/s, received 3 000/s",
				"  response  p50 61us, p99 1.4ms, max 12ms",
				"  SLA       p99 < 20ms: 3 over, 300 allowed",
			].join("\n"),
		);
	});

	test("on a narrow terminal breaks its rows between words", () => {
		const { made, screen } = watched({ columns: 40 });
		made.tick(judged, tick({ failed: 7, over: [301, 0] }));
		expect(shown(screen().lines.slice(2))).toBe(
			[
				"  time      7s/15s measuring, 8s left",
				"  rate      scheduled 3 000/s, sent",
				"            3 000/s, received 3 000/s,",
				"            failed 7",
				"  response  p50 61us, p99 1.4ms, max",
				"            12ms",
				"  SLA       p99 < 20ms: 301 over, 300",
				"            allowed",
			].join("\n"),
		);
	});

	test("leaves its title and what was said, the cursor on the line below, and is usable at any moment", () => {
		const { made, err, screen } = watched();
		for (let at = 1; at <= 5; at++) {
			made.tick(judged, tick({ at }));
			// A killed process restores nothing.
			const { cursor, lines, visible } = screen();
			expect(cursor).toEqual({ row: lines.length - 1, column: 0 });
			expect(lines.at(-1)).toBe("");
			expect(visible).toBe(true);
		}
		made.say("news");
		made.tick(judged, tick({ at: 8 }));
		made.done();
		expect(screen()).toMatchObject({
			lines: [`[1/2] ${TITLE}`, "news", ""],
			cursor: { row: 2, column: 0 },
			unknown: [],
		});
		expect(err()).not.toContain("\x1b[?25l");
	});

	test("has sentences that stay broken at blanks, and whole in a log", () => {
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

	test.each([30, 40, 80, 160])("keeps to %d columns whatever its names hold", (columns) => {
		const { made, screen } = watched({ columns });
		const hostile = {
			...judged,
			sla: judged.sla.map((s) => ({ ...s, text: "p99 🚀\n\x1b[2J<b>".repeat(30) })),
		};
		for (let at = 1; at < 20; at++)
			made.tick(hostile, tick({ at, error: "x".repeat(300), over: [9e9, 9] }));
		const { frames, unknown } = screen();
		for (const lines of frames)
			for (const line of lines.slice(1)) expect(displayWidth(line)).toBeLessThan(columns);
		expect(unknown).toEqual([]);
	});

	test("never draws more lines than the terminal has: those above could not be rewritten", () => {
		const { made, screen } = watched({ rows: 6 });
		made.tick(judged, tick());
		expect(screen().lines.length).toBeLessThanOrEqual(6);
	});

	test("finds its lines again when the terminal became narrower and broke them", () => {
		const { made, err, resize } = watched({ columns: 100 });
		made.tick(judged, tick());
		const drawn = screen(err()).lines.slice(1, -1);
		resize(40);
		made.tick(judged, tick({ at: 8 }));
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
		made.tick(judged, tick());
		expect(shown(screen().lines)).toContain("stopping: waiting for the last results\n");
	});

	test.each([
		[400, "p50 61us, p99 ~1.4ms, max"],
		[100, "p99 n/a"],
	])("marks percentiles that %d messages carry weakly, or not at all", (count, text) => {
		const { made, screen } = watched();
		made.tick(judged, tick({ window: { ...window, count } }));
		expect(shown(screen().lines)).toContain(text);
	});

	test("of a closed load says how many messages are sent, and how long the others take", () => {
		const closed = planOf("messages: 10000, warmup: 0");
		const { made, screen } = progress({ isTTY: true });
		made.run(closed, 1);
		made.tick(closed, tick({ metric: "service", at: 1, sent: 2500 }));
		const text = shown(screen().lines);
		expect(text).toContain("1s measuring, 2 500 of 10 000 messages sent, about 3s left");
		expect(text).toMatch(/service +p50 61us/);
		expect(text).not.toContain("scheduled");
	});
});

test.each([true, false])(
	"a listener is told the words of the terminal, also where that is quiet (%s)",
	(quiet) => {
		const seen: string[] = [];
		const listener: ProgressListener = {
			say: (text) => void seen.push(text),
			begin: (title) => void seen.push(`begin ${title}`),
			second: (live) =>
				void seen.push(...liveRows(live).map(([label, parts]) => [label, ...parts].join("|"))),
		};
		const { made, err } = progress({ quiet, listener });
		made.build.step("modules", 1, 2);
		made.run(judged, 1);
		made.tick(judged, tick());
		expect(err() === "").toBe(quiet);
		expect(seen).toEqual([
			"  modules 1/2",
			`begin ${TITLE}`,
			TITLE,
			"time|7s/15s measuring|8s left",
			"rate|scheduled 3 000/s|sent 3 000/s|received 3 000/s",
			"response|p50 61us|p99 1.4ms|max 12ms",
			"SLA|p99 < 20ms: 0 over, 300 allowed",
		]);
	},
);

describe("a build", () => {
	test("says each phase, and something every 10 s, where nobody watches", () => {
		const { made, err, later } = progress();
		made.build.step("modules", 0, 97);
		for (let i = 1; i <= 97; i++) {
			later(250);
			made.build.step("modules", i, 97);
		}
		made.build.step("modules", 97, 97);
		made.build.step("packages", 0, 800);
		later(500);
		made.build.step("packages", 800, 800);
		expect(err().split("\n")).toEqual([
			"  modules 0/97",
			"  modules 40/97",
			"  modules 80/97",
			"  modules 97/97",
			"  packages 0/800",
			"  packages 800/800",
			"",
		]);
	});

	test("rewrites one line on a terminal", () => {
		const { made, err } = progress({ isTTY: true });
		made.build.step("modules", 1, 2);
		made.build.step("modules", 2, 2);
		made.build.say("Built");
		const { lines, frames } = screen(err());
		expect(frames.map((frame) => frame[0])).toContain("  modules 1/2");
		expect(lines[0]).toBe("Built");
	});
});
