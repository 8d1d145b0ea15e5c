import { grouped } from "../grouped.ts";
import { HIGHEST_RATE } from "./fields.ts";
import type { IndexedResult, IndexedRun } from "./indexed.ts";
import { carried, percentile } from "./select.ts";
import { type Amount, amount, show } from "./show.ts";

/** The one figure that represents a run in a list: "response p99"; of a closed loop "throughput", of a search "highest rate". */
export type Headline = ReturnType<typeof headline>;

/** p99 of the main metric; a closed loop shows no queueing, so its throughput. */
export function headlineOf(run: IndexedRun): Headline {
	return run.load.schedule.kind === "closed"
		? headline("throughput", amount(carried(run), "messages/s"), run)
		: headline(`${run.main} p99`, percentile(run, run.main, 99), run);
}

export function searchHeadline(search: IndexedResult["searches"][number]): Headline {
	return headline(HIGHEST_RATE, amount(search.lo, "messages/s"), search);
}

/** "response p99 180us to 5.2ms" for each system. */
export function systemTexts(result: IndexedResult) {
	const runs = result.runs.filter((run) => run.search === null);
	const all = [
		...runs.map((run) => ({ system: run.system, ...headlineOf(run) })),
		...result.searches.map((search) => ({ system: search.system, ...searchHeadline(search) })),
	];
	return [...grouped(all, ({ system }) => system)].map(([system, own]) => {
		const texts = [...grouped(own, ({ name }) => name)].map(
			([name, same]) => `${name} ${range(same)}`,
		);
		return { system, text: texts.join("; ") };
	});
}

// --- internal ---

/** Only their reports show the figures of invalid, failed and interrupted runs: their text is "invalid" and the like. */
function headline(name: string, of: Amount, { verdict }: Pick<IndexedRun, "verdict">) {
	const counts = verdict !== "invalid" && verdict !== "error" && verdict !== "interrupted";
	const value = counts && !of.atLeast ? of.value : null;
	return { name, unit: of.unit, value, text: counts ? show(of) : verdict };
}

/** The lowest and the highest: repeats and cases are never averaged. */
function range(all: readonly Headline[]): string {
	const valued = all.filter(({ value }) => value !== null);
	valued.sort((a, b) => (a.value ?? 0) - (b.value ?? 0));
	const ends = new Set([valued[0], valued.at(-1)].flatMap((one) => one?.text ?? []));
	const others = all.filter(({ value }) => value === null).map(({ text }) => text);
	return [...new Set([[...ends].join(" to "), ...others])].filter((part) => part !== "").join(", ");
}
