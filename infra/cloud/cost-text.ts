import { formatDuration, formatDurationExact } from "../../runner/units.ts";

/** AWS bills by the second, at least one minute for each machine. */
const LEAST_NS = 60e9;

/** The price of a period, in USD. */
export function costOf(hourlyUsd: number, ns: number): number {
	return (hourlyUsd * Math.max(ns, LEAST_NS)) / 3_600e9;
}

/**
 * "about $1.87 an hour without internet traffic, at most $0.62 for the run (20min), at most $3.74 until they end themselves (2h)". Without a
 * plan (null) that part is left out. If something is not known it says so, with the reason.
 */
export function costText({
	hourlyUsd,
	unpriced,
	plannedNs,
	ttlNs,
}: {
	readonly hourlyUsd: number | null;
	readonly unpriced: string | null;
	readonly plannedNs: number | null;
	readonly ttlNs: number;
}): string {
	if (hourlyUsd === null)
		return `not known: ${unpriced ?? "AWS has named none"}; they end themselves after ${formatDurationExact(ttlNs)}`;
	return [
		`about ${dollars(hourlyUsd)} an hour without internet traffic`,
		...(plannedNs === null
			? []
			: [
					`at most ${dollars(costOf(hourlyUsd, plannedNs))} for the run (${formatDuration(plannedNs)})`,
				]),
		`at most ${dollars(costOf(hourlyUsd, ttlNs))} until they end themselves (${formatDurationExact(ttlNs)})`,
	].join(", ");
}

/** "$1.87", "$1234.50"; below 9.5 cents two significant digits: "$0.0052". */
export function dollars(usd: number): string {
	if (usd === 0 || usd >= 0.095) return `$${usd.toFixed(2)}`;
	const digits = 1 - Math.floor(Math.log10(usd));
	return `$${usd.toFixed(digits).replace(/0$/, "")}`;
}
