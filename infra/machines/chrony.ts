import type { Link } from "./link.ts";

/**
 * chrony's figures for the clock that it disciplines: the columns of `chronyc -c tracking` (chronyc(1)), times in seconds. Its manual: "An
 * absolute bound on the computer's clock accuracy (assuming the stratum-1 computer is correct) is given by: clock_error <= |system_time_offset| +
 * root_dispersion + (0.5 * root_delay)". The last offset is not part of it.
 */

/** `utcBound` of a host, as it is now; null if unknown. Fails when the connection is lost. */
export async function readChrony(link: Pick<Link, "run">): Promise<number | null> {
	const { values } = await link.run(ASK);
	return utcBound(values.tracking ?? "", {
		nowS: numberOf(values.now ?? ""),
		cardNs: values.card ? numberOf(values.card) : null,
	});
}

/** The other values needed to interpret that line. */
export interface Beside {
	/** Unix time on the host when the line was printed, s. */
	readonly nowS: number;
	/**
	 * Error of the network card's own clock, ns, by its driver (`phc_error_bound`): if chrony follows this clock, it assumes that it is exact.
	 * null without such a clock.
	 */
	readonly cardNs: number | null;
}

/**
 * The largest possible difference to UTC until chrony's next update, ns. null if unknown, because chrony is missing, is not synchronised,
 * has had no answer from its source for several updates, or expects a leap second.
 */
export function utcBound(line: string, { nowS, cardNs }: Beside): number | null {
	const columns = line.trim().split(",");
	const number = (column: number) => numberOf(columns[column] ?? "");
	const it = {
		/** Hops to a computer with a reference clock, which is 1; 0 if not synchronised. */
		stratum: number(2),
		/** Unix time of the last measurement. */
		sinceS: number(3),
		/** How far the system's clock still is from chrony's. */
		systemS: number(4),
		residualPpm: number(8),
		skewPpm: number(9),
		/** The sum of round trips to the computer with the reference clock, and the error that accumulates on that way until the next update. */
		rootDelayS: number(10),
		rootDispersionS: number(11),
		intervalS: number(12),
	};
	if (Object.values(it).some(Number.isNaN)) return null;
	if (columns[13] !== "Normal") return null;
	if (it.stratum < 1 || it.stratum > 15) return null;
	if (FOLLOWS_NOBODY.has(columns[0]?.toUpperCase() ?? "")) return null;
	if (it.rootDelayS < 0 || it.rootDispersionS < 0) return null;
	const ageS = nowS - it.sinceS;
	// `nowS` has whole seconds. A time in the future comes from another clock.
	if (!(ageS >= -2) || ageS > Math.max(4 * it.intervalS, YOUNG_S)) return null;
	const card = /^PHC\d*$/.test(columns[1] ?? "") ? cardNs : 0;
	if (card === null || Number.isNaN(card)) return null;
	// A run is between two readings, and the dispersion grows like this until the next update.
	const grows = (CLOCK_ERROR_PPM + it.skewPpm + Math.abs(it.residualPpm)) / 1e6;
	const seconds =
		Math.abs(it.systemS) +
		it.rootDispersionS +
		it.rootDelayS / 2 +
		Math.max(0, it.intervalS - ageS) * grows;
	return Math.ceil(seconds * 1e9) + card;
}

// --- internal ---

/** The largest error of several cards. A chronyd that hangs counts as missing. */
const ASK =
	'echo "mqbench:tracking=$(timeout 5 chronyc -c tracking 2>/dev/null)"; echo "mqbench:now=$(date +%s)"; echo "mqbench:card=$(cat /sys/bus/pci/devices/*/phc_error_bound 2>/dev/null | sort -n | tail -n 1)"';

/** The computer's own clock (mode `local`), or no source. */
const FOLLOWS_NOBODY: ReadonlySet<string> = new Set(["7F7F0101", "00000000"]);

/** New sources are polled more often than these intervals, s. */
const YOUNG_S = 300;

/** chrony's assumption about the frequency's own error (chrony.conf(5), `maxclockerror`): the default, because no command prints it. */
const CLOCK_ERROR_PPM = 1;

function numberOf(text: string): number {
	return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}
