import { largestOf, smallestOf } from "../extremes.ts";
import { ticksOf } from "../figures/stretches.ts";
import { spread } from "../model/line-seconds.ts";
import type { Run } from "../model/result.ts";
import { percent } from "../text/percent.ts";
import { formatCount, formatDuration, plural } from "../units.ts";
import { BUFFERED_MESSAGES } from "../verdict/buffered.ts";
import { type Block, text, upTo } from "./blocks.ts";

/** p99 by second in one line of a terminal, with its scale; of fewer than three nothing. A page has its charts. */
export function overTime({ series }: Run): Block[] {
	const seconds = series.seconds.filter(({ second }) => second >= 0);
	const known = seconds.flatMap(({ p99 }) => p99 ?? []);
	if (known.length < 3) return [];
	const scale = `${formatDuration(smallestOf(known))} to ${formatDuration(largestOf(known))}`;
	// A second without a p99 because messages never came is no quiet one.
	const never = seconds.filter(({ p99, missing }) => p99 === null && (missing ?? 0) > 0).length;
	const note = `in ${plural(never, "second")} of the window messages never completed`;
	return upTo(
		1,
		text(["p99 by second  ", { as: "line", values: seconds.map(({ p99 }) => p99) }, `  ${scale}`]),
		text(never === 0 ? null : note),
	);
}

/** What waited in the client library in the window, second by second and when it was the most; nothing where it was never worth a word. */
export function held(run: Run): Block[] {
	const startNs = run.window.startNs;
	const seconds = ticksOf(run)
		.filter(({ at }) => at * 1e9 > startNs)
		.flatMap(({ held, ...tick }) => (held?.length ? [{ ...tick, held }] : []));
	const samples = seconds.flatMap((tick) =>
		spread(tick, tick.held).map(({ n, at }) => ({ n, ns: at * 1e9 })),
	);
	const most = samples.reduce((a, b) => (b.n > a.n ? b : a), { n: 0, ns: 0 });
	if (most.n <= BUFFERED_MESSAGES) return [];
	const long = samples.filter(({ n }) => n > BUFFERED_MESSAGES).length;
	const why = run.load.work
		? "messages waited in the client library for the consumers' work"
		: "the client library held messages back";
	const said = `${why}: ${formatCount(most.n)} at ${formatDuration(most.ns - startNs)}, the most, and more than ${BUFFERED_MESSAGES} in ${percent(long / samples.length)} of the window`;
	return [text(said, "small")];
}
