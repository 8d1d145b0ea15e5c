import { smallestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import type { Result, Run, Search } from "../model/result.ts";
import { rateText } from "../plan/load-text.ts";
import { durabilityText } from "../plan/plan-text.ts";
import { countLabel } from "../result/fields.ts";
import { outcomesOf, verdictAt } from "../result/outcomes.ts";
import { bySystemAndCase, carried, sizeOf, withoutSearches } from "../result/select.ts";
import { amount, show, showInterval } from "../result/show.ts";
import { isClosed } from "../result/words.ts";
import { formatCount, ratePerSecond } from "../units.ts";
import * as doc from "./blocks.ts";
import { type CaseStandings, overlap, ratioText, type Standing, standingsOf } from "./standing.ts";

/** In a sentence or two, worded as in standings: each system's highest rate, or how much slower it is. null if nothing can be ranked. */
export function answerSentence(whole: Result): string | null {
	const { quick, verdict, searches } = whole;
	if (quick || verdict === "interrupted" || verdict === "error") return null;
	if (searches.length > 0) return searchedText(searches);
	// The case with the highest rate asks the most.
	const cases = standingsOf(withoutSearches(whole).runs).sort((a, b) => rateOf(b) - rateOf(a));
	const [first] = cases;
	const said = first === undefined ? null : saidOf(first);
	if (first === undefined || said === null) return null;
	return cases.length === 1 ? said : `${first.name}: ${said}${elsewhereText(cases)}`;
}

export function matrix(result: Result): doc.Block[] {
	const { runs } = result;
	if (runs.length === 0) return [];
	const cases = standingsOf(runs);
	const outcomes = outcomesOf(result);
	const systems = [...new Set(runs.map((run) => run.system))].map((system, color): doc.Inline => {
		const durability = runs.find((run) => run.system === system)?.load.durability ?? "";
		return [{ as: "dot", color }, system, doc.aside(`durability: ${durability}`)];
	});
	const cellOf = (one: Standing | null, { lowest }: CaseStandings): doc.Inline => {
		if (one === null) return "not run";
		const { run, p99 } = one;
		const of = run.main === "response" ? "p99" : `p99 of ${run.main}`;
		const ratio = lowest === null ? null : ratioText(one, lowest);
		return [
			doc.link(
				show(isClosed(run) ? amount(carried(run), "messages/s") : p99),
				`#run-${runs.indexOf(run) + 1}`,
			),
			...(ratio === null ? [] : [` ${ratio}`]),
			doc.aside(`${of}${isClosed(run) ? ` ${show(p99)}` : ""} ${showInterval(p99)}`),
			doc.aside(one.saturated ? "machine or generator at its limit" : ""),
			...(run.lost ? [doc.alert(`${formatCount(run.lost)} ${countLabel(run, "lost")}`)] : []),
			doc.badge(verdictAt(run, outcomes)),
		];
	};
	const cells = cases.map((one) => one.standings.map((standing) => cellOf(standing, one)));
	const names = cases.map(({ name }) => name);
	const [heads, rows] =
		cases.length > MOST_COLUMNS
			? [systems, names.map((name, i) => [name, ...(cells[i] ?? [])])]
			: [names, systems.map((name, i) => [name, ...cells.map((column) => column[i] ?? "")])];
	const columns = ["", ...heads.map((name) => ({ name }))];
	return [
		doc.text(runs.length === 1 ? null : meansOf(runs), "small", 3),
		doc.table(columns, rows, { look: "cards", depth: 3 }),
	];
}

// --- internal ---

const MOST_COLUMNS = 6;

function meansOf(runs: readonly Run[]): string {
	const once = runs.every(({ repeat }) => repeat === 1)
		? ". Each was measured once, so nothing is known of the spread from run to run"
		: "";
	return `Large: p99, of a closed loop what it carried; of several repeats the middle one, with its 95 % interval widened to those of the other repeats (∞: no upper end is known; ~: few of the slow messages came independently). Then how many times the lowest p99 of its case it is; overlaps: the intervals do, so the difference may be chance${once}.`;
}

function rateOf({ all: [one] }: CaseStandings): number {
	const rate = one?.run.load.schedule.rate;
	return rate == null ? 0 : ratePerSecond(rate);
}

/** "nats carries 40 000/s, redis 35 000/s" */
function ratesText(rates: readonly { system: string; rate: number | null }[]): string {
	return rates
		.toSorted((a, b) => (b.rate ?? 0) - (a.rate ?? 0))
		.map(
			({ system, rate }, i) =>
				`${system}${i === 0 ? " carries" : ""} ${show(amount(rate, "messages/s"))}`,
		)
		.join(", ");
}

/** The lowest among repeats. Searches with other SLA lines are listed separately. */
function searchedText(searches: readonly Search[]): string | null {
	const found = searches.filter(({ lo, confirmed }) => lo !== null && confirmed);
	const several = new Set(found.map((one) => one.case)).size > 1;
	const texts = [...grouped(found, (one) => JSON.stringify([one.case, one.sla])).values()].map(
		(own) => {
			const [first] = own as [Search];
			const rates = bySystemAndCase(own).map(({ system, all }) => ({
				system,
				rate: smallestOf(all.map(({ lo }) => lo ?? 0)),
			}));
			return `${several ? `${first.case}: ` : ""}${ratesText(rates)} with ${first.sla.join(" and ")}`;
		},
	);
	return texts.join("; ") || null;
}

function saidOf({ all, lowest }: CaseStandings): string | null {
	const [one, ...others] = all;
	if (one === undefined) return null;
	const p99 = `p99${one.run.main === "response" ? "" : ` of ${one.run.main}`}`;
	if (all.some(({ run }) => isClosed(run)))
		return `${ratesText(all.map(({ run }) => ({ system: run.system, rate: carried(run) })))}; a closed loop shows no queueing`;
	if (others.length === 0)
		return one.ranked
			? `${one.run.system} has a ${p99} of ${show(one.p99)} ${showInterval(one.p99)}`.trimEnd() +
					` at ${rateText(one.run.load)}`
			: null;
	if (lowest === null) return null;
	const group = groupOf(all, lowest);
	const slower = all
		.filter((standing) => standing.ranked && !group.includes(standing))
		.sort(bySize)
		.map(
			(standing, i) =>
				`${standing.run.system}${i === 0 ? " takes" : ""} ${ratioText(standing, lowest)?.replace(", no", " with no")}`,
		);
	const how = group.length === 1 ? "is lowest" : "cannot be told apart";
	const values = listed(group.map(({ p99 }) => show(p99)));
	const known = all.filter(({ ranked, run }) => ranked && run.load.durabilityLevel !== null);
	const unequal = durabilityText(known.map(({ run }) => run));
	return [
		[`${namesOf(group)} ${how} at ${p99} (${values})`, slower.join(", ")]
			.filter(Boolean)
			.join("; "),
		...unrankedTexts(all),
		...(unequal === null ? [] : [`Their ${unequal}`]),
	].join(". ");
}

/** Standings whose intervals overlap the lowest one's: chance may have ordered them. */
function groupOf(all: readonly Standing[], lowest: Standing): Standing[] {
	return all.filter((one) => one.ranked && (one === lowest || overlap(one, lowest))).sort(bySize);
}

function bySize(a: Standing, b: Standing): number {
	return sizeOf(a.p99) - sizeOf(b.p99);
}

function namesOf(all: readonly Standing[]): string {
	return listed(all.map(({ run }) => run.system));
}

function unrankedTexts(all: readonly Standing[]): string[] {
	const why = ({ run, saturated }: Standing) =>
		saturated ? "machine or generator was at its limit" : run.verdict.toUpperCase();
	const others = all.filter(({ ranked }) => !ranked);
	return [...grouped(others, why)].map(
		([reason, own]) => `${namesOf(own)} ${own.length === 1 ? "is" : "are"} not ranked: ${reason}`,
	);
}

/** In how many cases the same systems are lowest. */
function elsewhereText(cases: readonly CaseStandings[]): string {
	const setOf = (group: readonly Standing[]) => group.map(({ run }) => run.system).sort();
	const sets = cases.flatMap(({ all, lowest: one }) =>
		one === null ? [] : setOf(groupOf(all, one)).join(),
	);
	const same = sets.filter((names) => names === sets[0]).length;
	if (sets.length < 2) return "";
	return `. The same holds in ${same === sets.length ? "all" : `${same} of`} ${sets.length} cases`;
}

/** "a", "a and b", "a, b and c" */
function listed(names: readonly string[]): string {
	return names.join(", ").replace(/, ([^,]*)$/, " and $1");
}
