import type { MetricSummary, Run } from "../model/result.ts";
import { formatCount } from "../units.ts";
import { percentile } from "./select.ts";
import { show } from "./show.ts";

/** Response (from the intended time) against service (from the actual send). `behind`: late sends of a tool that waits for replies. */
export function omissionOf(
	response: MetricSummary | null,
	service: MetricSummary | null,
	behind: number | null,
): Run["omission"] {
	if (response === null || service === null) return null;
	const percentiles = response.percentiles.map(({ p, value }) => {
		const served = service.percentiles.find((x) => x.p === p)?.value ?? null;
		const both = value !== null && served !== null;
		const factor = both && served > 0 ? value / served : null;
		const difference = both ? value - served : null;
		return { p, response: value, service: served, factor, difference };
	});
	return { percentiles, behind };
}

/** "Counting from the actual send, p99 would have been 0.3ms instead of 303ms". Null where both are about the same. */
export function hiddenText(run: Run): string | null {
	const p = mostHidden(run);
	if (p === null) return null;
	const value = (metric: "response" | "service") => show(percentile(run, metric, p));
	return `Counting from the actual send, p${p} would have been ${value("service")} instead of ${value("response")}`;
}

/** p99, the best known, if service differs by more than half; else the deepest such percentile. Differences due to lag do not count. */
export function mostHidden(run: Run): number | null {
	const differing = (run.omission?.percentiles ?? []).filter(({ p, factor, difference }) => {
		const lag = percentile(run, "lag", p).value ?? 0;
		return (factor ?? 0) >= WORTH_SAYING && (difference ?? 0) > 2 * lag;
	});
	return (differing.find(({ p }) => p === 99) ?? differing.at(-1))?.p ?? null;
}

/** "485 of 20 000 messages were due while ..." */
export function behindText(run: Run): string | null {
	const behind = run.omission?.behind ?? 0;
	if (behind === 0 || run.sent === null) return null;
	return `${formatCount(behind)} of ${formatCount(run.sent)} messages were due while an earlier one of the same connection was in flight: a tool that waits for each reply would not have sent them at their time`;
}

// --- internal ---

const WORTH_SAYING = 1.5;
