import type { BuildProgress } from "../../infra/programs/once.ts";
import { noBroker } from "../brokers/index.ts";
import type { Plan } from "../model/plan.ts";
import { openedAt } from "../plan/derive.ts";
import { rateText, warmupText } from "../plan/load-text.ts";
import { printable } from "../printable.ts";
import { clipped, displayWidth, plainText } from "../terminal/columns.ts";
import { terminalLook } from "../terminal/look.ts";
import { wrap } from "../terminal/wrap.ts";
import { formatDuration } from "../units.ts";
import type { Sink, World } from "../world.ts";
import { endText, type LiveRun, liveLines, plainEvery, plainLine } from "./live.ts";
import type { Opens, ProgressLine, Tick } from "./progress-line.ts";

/** Output on stderr during a command: lines that are rewritten on a terminal, plain lines elsewhere. */
export type Progress = ReturnType<typeof makeProgress>;

/** Receives the terminal's output, in the same words (`--watch`). */
export interface ProgressListener {
	/** A sentence, or a line that the next one replaces, as during a build. */
	say(text: string): void;
	begin(title: string): void;
	second(live: LiveRun): void;
}

/** `quiet`: writes nothing to the terminal. */
export function makeProgress(
	world: World,
	quiet: boolean,
	listener: ProgressListener | null = null,
) {
	const out = world.stderr;
	const { movable } = terminalLook(out, world.env);
	const block = makeLiveBlock(out);
	let sent = 0;
	/** When the window of the run opened, for a warm-up until steady. */
	let startNs: number | null = null;
	const beside = new Map<string, Tick>();
	const say = (text: string) => {
		listener?.say(text);
		if (quiet) return;
		block.clear();
		const lines = movable
			? text.split("\n").flatMap((line) => wrap(line, out.columns, "    ", ""))
			: [text];
		out.write(`${lines.join("\n")}\n`);
	};
	/** Rewrites on a terminal; elsewhere writes the line if it is `worth` it. */
	const rewrite = (lines: readonly string[], plain: string, worth: boolean) => {
		if (quiet) return;
		if (movable) block.draw(lines);
		else if (worth) out.write(`${plain}\n`);
	};
	const begin = (title: string) => {
		[sent, startNs] = [0, null];
		beside.clear();
		listener?.begin(title);
		say(title);
	};
	return {
		say,
		done: () => block.clear(),
		build: makeBuild(world, say, (text, worth) => {
			listener?.say(text);
			rewrite([text], text, worth);
		}),
		run(plan: Plan, of: number, background: readonly Plan[] = []) {
			// The loads beside a run have numbers, too.
			const nth = Math.ceil(plan.index / plan.loads);
			// The number of a search's runs is unknown at first, and runs that follow it exceed the planned number.
			const open = plan.search !== null || nth > of;
			const number = open ? `[${nth}] ` : of > 1 ? `[${nth}/${of}] ` : "";
			begin(`${number}${titleOf(plan)}`);
			for (const load of background) say(`  beside it ${titleOf(load)}`);
		},
		floor(plan: Plan) {
			const { kind, warmupNs, durationNs } = plan.schedule;
			const load = kind === "closed" ? rateText(plan) : formatDuration(warmupNs + durationNs);
			begin(`Floor, the load generator alone: ${plainText(plan.case)} on ${noBroker}, ${load}`);
		},
		tick(written: Plan, line: ProgressLine | Opens) {
			const plan = openedAt(written, startNs);
			if (plan.beside !== null) {
				// Shown with the main load's next second.
				if (line.mqbench === "tick") beside.set(plan.beside.load, line);
			} else if (line.mqbench === "tick") {
				sent += line.sent;
				const live = { plan, tick: line, sent, beside, stopping: world.stop.aborted };
				listener?.second(live);
				const worth = line.at % plainEvery(plan) === 0 || line.at === 1 || !!line.error;
				rewrite(liveLines(live, out.columns - 1), plainLine(live), worth);
			} else if (line.mqbench === "opens") {
				startNs = line.startNs;
				say(
					`  Latency is steady: the measured part begins ${formatDuration(startNs)} after the start.`,
				);
			} else if (line.mqbench === "end") {
				const text = endText(written, line);
				if (text !== null) say(`  ${text}`);
			}
		},
	};
}

/** "nats: 256B 3000/s, repeat 1/2 (3000/s, 5s warm-up, 10s measured)" */
export function titleOf(plan: Plan): string {
	const { kind, steady, warmupNs, durationNs } = plan.schedule;
	const repeat = plan.repeats > 1 ? `, repeat ${plan.repeat}/${plan.repeats}` : "";
	const clients = plan.client.count > 1 ? `, ${plan.client.count} clients` : "";
	const time =
		kind === "closed"
			? `at most ${formatDuration(durationNs)}`
			: `${steady ? warmupText(plan.schedule) : `${formatDuration(warmupNs)} warm-up`}, ${formatDuration(durationNs)} measured`;
	return plainText(`${plan.system}: ${plan.case}${repeat} (${rateText(plan)}, ${time}${clients})`);
}

// --- internal ---

/** How often a build reports without a terminal. */
const BUILD_EVERY_MS = 10_000;

function makeBuild(
	world: World,
	say: (text: string) => void,
	rewrite: (text: string, worth: boolean) => void,
): BuildProgress {
	let lastMs = Number.NEGATIVE_INFINITY;
	let shown = "";
	return {
		say,
		step(name, done, all) {
			const now = world.clock.monotonicMs();
			const text = `  ${name} ${done}${all > 0 ? `/${all}` : ""}`;
			const isPhase = !shown.startsWith(`  ${name} `);
			const worth = text !== shown && (isPhase || done === all || now - lastMs >= BUILD_EVERY_MS);
			if (worth) lastMs = now;
			shown = text;
			rewrite(text, worth);
		},
	};
}

/** Lines at the end of a terminal, rewritten in place. The cursor rests visibly below them, so even kill -9 leaves a usable terminal. */
function makeLiveBlock(out: Sink) {
	let drawn: number[] = [];
	const control = out.control ?? out.write;
	const back = () => {
		// A terminal that became narrower has rewrapped the lines.
		const rows = drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / out.columns)), 0);
		return rows === 0 ? "" : `\r\x1b[${rows}A`;
	};
	return {
		draw(lines: readonly string[]) {
			// A full line would move the cursor on, so one column stays free. Lines that scrolled away could not be rewritten.
			const width = Math.max(20, out.columns - 1);
			const height = Math.max(1, (out.rows ?? 24) - 2);
			const shown = lines.slice(0, height).map((line) => clipped(printable(line), width));
			const text = shown.map((line) => `\x1b[2K${line}\n`).join("");
			control(`${back()}${text}\x1b[J`);
			drawn = shown.map(displayWidth);
		},
		/** Removes the lines: the next output starts where they began. */
		clear() {
			if (drawn.length > 0) control(`${back()}\x1b[J`);
			drawn = [];
		},
	};
}
