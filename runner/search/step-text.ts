import { formatCount } from "../units.ts";
import { boundsOf, CURVE, type Found, type Step } from "./search.ts";

/** What a search tries next, and what it knows, in one sentence. `runs`: those that it made so far. */
export function stepText({ rate, role }: Step, runs: readonly Found[]): string {
	const same = runs.filter((f) => f.step.role === role);
	const again = role !== "curve" && same.some((f) => f.step.rate === rate) ? " again" : "";
	const { lo, hi } = boundsOf(runs);
	const known = [
		...(lo === null ? [] : [`${formatCount(lo)}/s passed`]),
		...(hi === null ? [] : [`${formatCount(hi)}/s failed`]),
	];
	const what = `${formatCount(rate)}/s${again}`;
	switch (role) {
		case "probe":
			return `tries ${what}${known.length === 0 ? "" : ` (${known.join(", ")})`}`;
		case "confirm":
			return `confirms ${what} with a longer run`;
		case "curve":
			return `measures latency at ${what}, ${Math.round(100 * (CURVE[same.length] ?? 1))} % of the answer`;
	}
}
