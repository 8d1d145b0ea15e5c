import { smallestOf } from "../extremes.ts";
import type { Gate, Result, Run, Search } from "../model/result.ts";
import { rateText } from "../plan/load-text.ts";
import { carried, sizeOf, withoutSearches } from "../result/select.ts";
import { amount, show, showInterval } from "../result/show.ts";
import { isClosed } from "../result/words.ts";
import { ratePerSecond } from "../units.ts";
import { lowestOf, overlap, ratioText, type Standing, standingOf } from "./standing.ts";

/**
 * The answer to what a scenario asks, in a sentence or two: who carries how much, who is how much slower. It says what standings say, and
 * nothing is equal that has no interval. null: nothing can be ranked, or the figures are no result.
 */
export function answerSentence(whole: Result): string | null {
	const { quick, verdict, searches, gates } = whole;
	if (quick || verdict === "interrupted" || verdict === "error") return null;
	if (searches.length > 0) return carriedBy(searches);
	const cases = casesOf(withoutSearches(whole).runs);
	const [first] = cases;
	const said = first === undefined ? null : saidOf(first.all, gates);
	if (first === undefined || said === null) return null;
	return cases.length === 1 ? said : `${first.name}: ${said}${changesOf(cases)}`;
}

// --- internal ---

/** Other cases that are named. */
const MOST_CHANGES = 2;

interface Case {
	readonly name: string;
	readonly all: readonly Standing[];
}

/** The one with the highest rate first. */
function casesOf(runs: readonly Run[]): Case[] {
	const rate = ({ all: [one] }: Case) => {
		const scheduled = one?.run.load.schedule.rate;
		return scheduled == null ? 0 : ratePerSecond(scheduled);
	};
	return distinct(runs.map((run) => run.case))
		.map((name) => {
			const alike = runs.filter((run) => run.case === name);
			const all = distinct(alike.map(({ system }) => system)).flatMap(
				(system) => standingOf(alike.filter((run) => run.system === system)) ?? [],
			);
			return { name, all };
		})
		.sort((a, b) => rate(b) - rate(a));
}

/** "nats carries 40 000/s with p99 < 10ms, redis 35 000/s" */
function carriedBy(searches: readonly Search[]): string | null {
	const found = searches.filter(({ lo, confirmed }) => lo !== null && confirmed);
	const cases = distinct(found.map((one) => one.case)).map((name) => {
		const alike = found.filter((one) => one.case === name);
		const rates = distinct(alike.map(({ system }) => system)).map((system) => {
			const own = alike.filter((one) => one.system === system).map(({ lo }) => lo ?? 0);
			return { system, rate: smallestOf(own) };
		});
		const texts = rates
			.sort((a, b) => b.rate - a.rate)
			.map(({ system, rate }, i) =>
				i > 0
					? `${system} ${show(amount(rate, "messages/s"))}`
					: `${system} carries ${show(amount(rate, "messages/s"))} with ${alike[0]?.sla.join(" and ")}`,
			);
		return { name, text: texts.join(", ") };
	});
	if (cases.length === 0) return null;
	return cases.map(({ name, text }) => (cases.length === 1 ? text : `${name}: ${text}`)).join("; ");
}

/** What one case says. */
function saidOf(all: readonly Standing[], gates: readonly Gate[]): string | null {
	const [one, ...others] = all;
	if (one === undefined) return null;
	if (all.some(({ run }) => isClosed(run))) return closedText(all);
	if (others.length === 0) return aloneText(one, gates);
	const lowest = lowestOf(all);
	if (lowest === null) return null;
	const ranked = all.filter(({ ranked }) => ranked).sort((a, b) => sizeOf(a.p99) - sizeOf(b.p99));
	const group = groupOf(ranked, lowest);
	const slower = ranked.filter((standing) => !group.includes(standing));
	const p99 = `p99${lowest.run.main === "response" ? "" : ` of ${lowest.run.main}`}`;
	const names = listed(group.map(({ run }) => run.system));
	const values = listed(group.map(({ p99 }) => show(p99)));
	const times = slower.map(
		(standing, i) =>
			`${standing.run.system}${i === 0 ? " takes" : ""} ${ratioText(standing, lowest)?.replace(", no", " with no")}`,
	);
	return [
		`${names} ${group.length === 1 ? "is lowest" : "cannot be told apart"} at ${p99} (${values})${times.map((text, i) => `${i === 0 ? "; " : ", "}${text}`).join("")}`,
		...unrankedTexts(all),
		...durabilityText(ranked),
	].join(". ");
}

/** Those whose intervals overlap with the lowest's: chance may have ordered them. */
function groupOf(ranked: readonly Standing[], lowest: Standing): Standing[] {
	return ranked.filter((one) => one === lowest || overlap(one, lowest));
}

function closedText(all: readonly Standing[]): string {
	const rates = all
		.map(({ run }) => ({ system: run.system, rate: carried(run) }))
		.sort((a, b) => (b.rate ?? 0) - (a.rate ?? 0))
		.map(
			({ system, rate }, i) =>
				`${system}${i === 0 ? " carries" : ""} ${show(amount(rate, "messages/s"))}`,
		);
	return `${rates.join(", ")}; a closed loop shows no queueing`;
}

/** "nats stays below 10ms at p99 at 1000/s: 1.2ms [1.1ms, 1.3ms]" */
function aloneText(one: Standing, gates: readonly Gate[]): string | null {
	const { run, p99 } = one;
	if (!one.ranked) return null;
	const line = gates.find(
		(gate) =>
			gate.system === run.system &&
			gate.case === run.case &&
			gate.metric === run.main &&
			gate.percentile === 99 &&
			gate.verdict === "pass",
	);
	const metric = run.main === "response" ? "" : ` of ${run.main}`;
	const value = [show(p99), showInterval(p99)].filter((text) => text !== "").join(" ");
	return line === undefined
		? `${run.system} has a p99${metric} of ${value} at ${rateText(run.load)}`
		: `${run.system} stays within ${line.sla} at ${rateText(run.load)}: ${value}`;
}

/** Who is not ranked, and why. */
function unrankedTexts(all: readonly Standing[]): string[] {
	const others = all.filter(({ ranked }) => !ranked);
	const why = ({ run, saturated }: Standing) =>
		saturated ? "as machine or generator was at its limit" : `being ${run.verdict.toUpperCase()}`;
	return distinct(others.map(why)).map((reason) => {
		const names = others.filter((one) => why(one) === reason).map(({ run }) => run.system);
		return `${listed(names)} ${names.length === 1 ? "is" : "are"} not ranked, ${reason}`;
	});
}

function durabilityText(ranked: readonly Standing[]): string[] {
	const known = ranked.flatMap(({ run: { system, load } }) =>
		load.durabilityLevel === null ? [] : [{ system, level: load.durabilityLevel }],
	);
	return distinct(known.map(({ level }) => level)).length < 2
		? []
		: [
				`Their durability differs: ${known.map(({ system, level }) => `${system} ${level}`).join(", ")}`,
			];
}

/** Whether the same systems are lowest in the other cases. */
function changesOf(cases: readonly Case[]): string {
	const lowest = cases.flatMap(({ name, all }) => {
		const one = lowestOf(all);
		if (one === null) return [];
		const group = groupOf(
			all.filter(({ ranked }) => ranked),
			one,
		);
		return [{ name, systems: group.map(({ run }) => run.system) }];
	});
	const [first, ...others] = lowest;
	if (first === undefined || others.length === 0) return "";
	const changed = others.filter(({ systems }) => !sameOf(systems, first.systems));
	const named = changed
		.slice(0, MOST_CHANGES)
		.map(({ name, systems }) => `${listed(systems)} in ${name}`);
	const same = lowest.length - changed.length;
	if (changed.length === 0) return `. The same holds in all ${lowest.length} cases`;
	const more = changed.length > named.length ? ` and ${changed.length - named.length} more` : "";
	const holds =
		same === 1 ? ". Lowest" : `. The same holds in ${same} of ${lowest.length} cases; lowest`;
	return `${holds} elsewhere: ${named.join("; ")}${more}`;
}

function sameOf(some: readonly string[], others: readonly string[]): boolean {
	return some.length === others.length && some.every((one) => others.includes(one));
}

/** "a", "a and b", "a, b and c" */
function listed(names: readonly string[]): string {
	return names.join(", ").replace(/, ([^,]*)$/, " and $1");
}

function distinct(texts: readonly string[]): string[] {
	return [...new Set(texts)];
}
