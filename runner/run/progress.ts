import type { BuildProgress } from "../../infra/binaries/resolve.ts";
import { builtPrograms, noBroker } from "../brokers/index.ts";
import type { Plan } from "../model/plan.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import type { FaultDone } from "../model/run-file.ts";
import { rateText, warmupText } from "../plan/load-text.ts";
import { openedAt } from "../plan/schedule.ts";
import { plainText } from "../terminal/columns.ts";
import { terminalLook } from "../terminal/look.ts";
import { wrap } from "../terminal/wrap.ts";
import { tell } from "../text/tell.ts";
import { formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import { makeLiveBlock } from "./live-block.ts";
import { endText, type Opens, type Tick } from "./live-figures.ts";
import { type LiveRun, liveLines } from "./live-lines.ts";
import { plainEvery, plainLine } from "./plain-line.ts";
import type { ProgressLine } from "./progress-line.ts";
import { type Use, useBetween } from "./resource-use.ts";
import { makeTimeLeft } from "./time-left.ts";

/** What a person sees while something goes on, on stderr: a few lines that are rewritten on a terminal, plain lines elsewhere. */
export interface Progress {
	readonly build: BuildProgress;
	/** A plain sentence that stays. */
	say(text: string): void;
	/** Runs that are to be made, floors included: what the time left is reckoned from. */
	expect(plans: readonly Plan[]): void;
	/** A run begins. */
	run(plan: Plan, of: number): void;
	/** The floor of a case is measured. */
	floor(plan: Plan): void;
	tick(plan: Plan, line: ProgressLine | Opens): void;
	/** What processes of the run have used so far: beside the next second, their use since the sample before. */
	resources(line: ResourceLine): void;
	/** The fault at this place of the plan is in effect, or over. */
	fault(plan: Plan, place: number, fault: FaultDone): void;
	/** Takes away what is being rewritten. */
	done(): void;
}

/** Somebody else who sees all that a terminal shows, in the same words (`--watch`). */
export interface Onlooker {
	/** Handed the way to say something on the terminal, and by that to everybody. */
	hear(say: (text: string) => void): void;
	/** A sentence that stays. */
	say(text: string): void;
	/** A line that the next one takes the place of, as of a build; null: it is over. */
	status(text: string | null): void;
	/** A run, or a floor, begins. */
	begin(plan: Plan, title: string): void;
	/** The window of a warm-up until steady opens, ns since T0. */
	opens(startNs: number): void;
	second(live: LiveRun): void;
	fault(plan: Plan, place: number, fault: FaultDone): void;
}

/** `quiet`: nothing at all on the terminal. */
export function makeProgress(
	world: World,
	quiet: boolean,
	onlooker: Onlooker | null = null,
): Progress {
	const out = world.stderr;
	const look = () => terminalLook(out, world.env);
	const { movable } = look();
	const block = makeLiveBlock(out);
	const left = makeTimeLeft(() => world.clock.monotonicMs());
	let seen: Pick<LiveRun, "p99s" | "sent"> = { p99s: [], sent: 0 };
	let following = 0;
	let several = false;
	/** When the window of the run opens, where its latency says so; null: that is not known yet. */
	let startNs: number | null = null;
	let waiting: readonly Plan[] = [];
	let sample: ResourceLine | undefined;
	let use: Use | null = null;
	const say = (text: string) => {
		onlooker?.say(text);
		if (quiet) return;
		block.clear();
		const lines = movable
			? text.split("\n").flatMap((line) => wrap(line, out.columns, "    ", ""))
			: [text];
		out.write(`${lines.join("\n")}\n`);
	};
	onlooker?.hear(say);
	/** Rewrites on a terminal; elsewhere writes the line, if it is `worth` it. */
	const rewrite = (lines: readonly string[], plain: string, worth: boolean) => {
		if (quiet) return;
		if (movable) block.draw(lines);
		else if (worth) out.write(`${plain}\n`);
	};
	const begin = (plan: Plan, title: string) => {
		seen = { p99s: [], sent: 0 };
		[startNs, sample, use] = [null, undefined, null];
		left.begin(plan);
		waiting = waiting.filter((one) => one !== plan);
		following = waiting.length;
		onlooker?.begin(plan, title);
		say(title);
	};
	const show = (written: Plan, tick: Tick) => {
		const plan = openedAt(written, startNs);
		seen = { p99s: [...seen.p99s, tick.p99], sent: seen.sent + tick.sent };
		const live: LiveRun = {
			plan,
			several,
			tick,
			...seen,
			following: { runs: following, ns: left.after() },
			stopping: world.stop.aborted,
			use,
		};
		onlooker?.second(live);
		const { columns, unicode } = look();
		rewrite(
			liveLines(live, { width: columns - 1, unicode }),
			plainLine(live),
			tick.at % plainEvery(plan) === 0 || tick.at === 1 || !!tick.error,
		);
	};
	const floors = new Set<Plan>();
	return {
		say,
		done: () => block.clear(),
		build: makeBuild(world, say, (text, worth) => {
			onlooker?.status(text);
			if (text !== null) rewrite([text], text, worth);
		}),
		expect(plans) {
			left.ahead(plans);
			waiting = plans;
			// A floor has no gates.
			const systems = plans.flatMap(({ sla, system }) => (sla.length > 0 ? [system] : []));
			several ||= new Set(systems).size > 1;
		},
		run: (plan, of) => begin(plan, title(plan, of)),
		floor(plan) {
			floors.add(plan);
			begin(
				plan,
				tell("floor-live", {
					case: plainText(plan.case),
					broker: noBroker,
					load:
						plan.schedule.kind === "closed"
							? rateText(plan)
							: formatDuration(plan.schedule.warmupNs + plan.schedule.durationNs),
				}),
			);
		},
		tick(plan, line) {
			if (line.mqbench === "tick") show(plan, line);
			if (line.mqbench === "opens") {
				startNs = line.startNs;
				onlooker?.opens(startNs);
				say(
					`  Latency is steady: the measured part begins ${formatDuration(startNs)} after the start.`,
				);
			}
			// The report says what a floor came to: of its best second, which only the files know.
			if (line.mqbench !== "end" || floors.has(plan)) return;
			const text = endText(plan, line);
			if (text !== null) say(`  ${text}`);
		},
		resources(line) {
			use = useBetween(sample, line) ?? use;
			sample = line;
		},
		fault: (plan, place, fault) => onlooker?.fault(plan, place, fault),
	};
}

// --- internal ---

/** Names of the brokers that mqbench builds. */
const BUILT = builtPrograms.map(({ name }) => name);

/** Without a terminal a build says something this often. */
const BUILD_EVERY_MS = 10_000;

function makeBuild(
	world: World,
	say: (text: string) => void,
	/** null: nothing any more. */
	rewrite: (text: string | null, worth: boolean) => void,
): BuildProgress {
	let last = Number.NEGATIVE_INFINITY;
	let shown = { name: "", done: 0 };
	let began = 0;
	return {
		begin(server, platform) {
			began = world.clock.monotonicMs();
			say(
				tell(server === null ? "building" : "building-server", {
					what: server ?? BUILT.join(" and "),
					platform: platform === undefined ? "" : ` for ${platform} hosts`,
				}),
			);
		},
		note: say,
		waiting(pid) {
			say(tell("building-elsewhere", { pid }));
		},
		step(name, done, all) {
			const now = world.clock.monotonicMs();
			const news = name !== shown.name || done !== shown.done;
			const worth = news && (name !== shown.name || done === all || now - last >= BUILD_EVERY_MS);
			if (worth) last = now;
			shown = { name, done };
			rewrite(`  ${name} ${done}${all > 0 ? `/${all}` : ""}`, worth);
		},
		end() {
			const took = (world.clock.monotonicMs() - began) * 1e6;
			rewrite(null, false);
			say(tell("built", { took: formatDuration(took) }));
		},
	};
}

function title(plan: Plan, of: number): string {
	const { kind, steady, warmupNs, durationNs } = plan.schedule;
	const repeat = plan.repeats > 1 ? `, repeat ${plan.repeat}/${plan.repeats}` : "";
	// How many runs a search will need nobody knows; what follows it has a number beyond those that were known.
	const count =
		plan.search !== null || plan.index > of
			? `[${plan.index}] `
			: of > 1
				? `[${plan.index}/${of}] `
				: "";
	const clients = plan.client.count > 1 ? `, ${plan.client.count} clients` : "";
	const time =
		kind === "closed"
			? `at most ${formatDuration(durationNs)}`
			: `${steady ? warmupText(plan.schedule) : `${formatDuration(warmupNs)} warm-up`}, ${formatDuration(durationNs)} measured`;
	return plainText(
		`${count}${plan.system}: ${plan.case}${repeat} (${rateText(plan)}, ${time}${clients})`,
	);
}
