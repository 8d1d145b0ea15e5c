import type { BuildProgress } from "../../infra/binaries/resolve.ts";
import { rateText } from "../plan/load-text.ts";
import type { Plan } from "../plan/plan.ts";
import { formatCount, formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import type { ProgressLine } from "./progress-line.ts";

/** What a person sees while something goes on, on stderr: one line that is rewritten on a terminal, plain lines elsewhere. */
export interface Progress {
	readonly build: BuildProgress;
	/** A plain sentence that stays. */
	say(text: string): void;
	/** A run begins. */
	run(plan: Plan, of: number): void;
	/** The floor of a case is measured. */
	floor(plan: Plan): void;
	tick(plan: Plan, line: ProgressLine): void;
	/** Ends the line that is being rewritten. */
	done(): void;
}

/** `quiet`: nothing at all. */
export function makeProgress(world: World, quiet: boolean): Progress {
	const out = world.stderr;
	let open = false;
	const close = () => {
		if (open) out.write("\n");
		open = false;
	};
	const say = (text: string) => {
		if (quiet) return;
		close();
		out.write(`${text}\n`);
	};
	/** Rewrites the line on a terminal; elsewhere writes a new one, if `worth` it. */
	const rewrite = (text: string, worth: boolean) => {
		if (quiet) return;
		if (out.isTTY) {
			out.write(`\r\x1b[2K${text.slice(0, Math.max(20, out.columns - 1))}`);
			open = true;
		} else if (worth) out.write(`${text}\n`);
	};
	return {
		say,
		done: close,
		build: makeBuild(world, say, rewrite),
		run: (plan, of) => say(title(plan, of)),
		floor: (plan) =>
			say(
				`Floor of the generator: ${plan.case} on noop, ${plan.schedule.kind === "closed" ? rateText(plan) : formatDuration(plan.schedule.warmupNs + plan.schedule.durationNs)}`,
			),
		tick(plan, line) {
			if (line.mqbench === "tick") rewrite(tickText(plan, line), true);
		},
	};
}

// --- internal ---

/** Without a terminal a build says something this often. */
const BUILD_EVERY_MS = 10_000;

function makeBuild(
	world: World,
	say: (text: string) => void,
	rewrite: (text: string, worth: boolean) => void,
): BuildProgress {
	let last = Number.NEGATIVE_INFINITY;
	let shown = { name: "", done: 0 };
	let began = 0;
	return {
		begin() {
			began = world.clock.monotonicMs();
			say(
				"Building the load generator (k6 with mqbench's extensions) and the broker natsd with Go: once, about 2 minutes on 2 cores.",
			);
		},
		waiting(pid) {
			say(
				`Another mqbench${pid === null ? "" : ` (pid ${pid})`} is building the load generator; waiting for it.`,
			);
		},
		step(name, done, all) {
			const now = world.clock.monotonicMs();
			const news = name !== shown.name || done !== shown.done;
			const worth =
				news &&
				(name !== shown.name || done === all || now - last >= BUILD_EVERY_MS);
			if (worth) last = now;
			shown = { name, done };
			rewrite(`  ${name} ${done}${all > 0 ? `/${all}` : ""}`, worth);
		},
		end() {
			const took = (world.clock.monotonicMs() - began) * 1e6;
			say(`Built in ${formatDuration(took)}; kept in the cache.`);
		},
	};
}

function title(plan: Plan, of: number): string {
	const { kind, warmupNs, durationNs } = plan.schedule;
	const repeat =
		plan.repeats > 1 ? `, repeat ${plan.repeat}/${plan.repeats}` : "";
	const count = of > 1 ? `[${plan.index}/${of}] ` : "";
	const time =
		kind === "closed"
			? `at most ${formatDuration(durationNs)}`
			: `${formatDuration(warmupNs)} warm-up, ${formatDuration(durationNs)} measured`;
	return `${count}${plan.system}: ${plan.case}${repeat} (${rateText(plan)}, ${time})`;
}

function tickText(
	plan: Plan,
	tick: Extract<ProgressLine, { mqbench: "tick" }>,
): string {
	const { kind, warmupNs, durationNs } = plan.schedule;
	const atNs = tick.at * 1e9;
	const endNs = warmupNs + durationNs;
	const failed = tick.failed > 0 ? `  failed ${formatCount(tick.failed)}` : "";
	const error = tick.error ? `  CANNOT WRITE RESULTS: ${tick.error}` : "";
	const flying = `in flight ${formatCount(tick.inFlight)}${failed}${error}`;
	if (kind !== "closed" && atNs > endNs)
		return `  drain ${formatDuration(atNs - endNs)} of at most ${formatDuration(plan.drainNs)}  ${flying}`;
	const phase = atNs <= warmupNs ? "warm-up" : phaseAt(plan, atNs - warmupNs);
	// Percentiles are of the messages that were due in this second.
	const latency =
		tick.p50 === null || tick.p99 === null
			? "no answers yet"
			: `p50 ${formatDuration(tick.p50)}  p99 ${formatDuration(tick.p99)}`;
	// A closed load is through when it is through.
	if (kind === "closed")
		return `  ${formatDuration(atNs)}  ${formatCount(tick.sent)}/s  ${latency}  ${flying}`;
	return `  ${formatDuration(atNs)}/${formatDuration(endNs)} ${phase}  ${formatCount(tick.sent)}/s  ${latency}  ${flying}`;
}

/** The part of the window that the second before belongs to. */
function phaseAt({ phases }: Plan, sinceStartNs: number): string {
	const phase = phases.find(
		({ fromNs, toNs }) => sinceStartNs > fromNs && sinceStartNs <= toNs,
	);
	return phase?.name ?? "measuring";
}
