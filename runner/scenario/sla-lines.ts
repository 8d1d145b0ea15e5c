import type { Sla } from "../plan/plan.ts";
import { formatDurationExact } from "../units.ts";
import { brokers } from "./brokers.ts";
import type { Problem } from "./problem.ts";
import type { Case, SlaLine } from "./scenario.ts";
import { SlaEntry } from "./schema.ts";
import { didYouMean } from "./suggest.ts";
import type { PlacedSystem } from "./systems.ts";

/**
 * The objectives of a scenario, with the systems (`keys`: all that are written) and cases they name looked up. A line
 * that the schema refuses is left out; cases are not checked while one has a mistake, as its name isn't known then.
 */
export function resolveSlaLines(
	written: unknown,
	systems: readonly PlacedSystem[],
	keys: readonly string[],
	cases: readonly (Case | undefined)[],
): { lines: SlaLine[]; problems: Problem[] } {
	const lines: SlaLine[] = [];
	const problems: Problem[] = [];
	const complete = cases.every((one) => one !== undefined);
	const names = cases.flatMap((one) => (one ? [one.name] : []));

	for (const [index, entry] of (Array.isArray(written)
		? written
		: []
	).entries()) {
		const result = SlaEntry.safeParse(entry);
		if (!result.success) continue;
		const line =
			"kind" in result.data
				? { expect: result.data, abort: false }
				: result.data;
		const wrong = (key: string | null, message: string) =>
			problems.push({
				path: key === null ? ["sla", index] : ["sla", index, key],
				at: "value",
				message,
			});

		if (
			line.system !== undefined &&
			keys.length > 0 &&
			!keys.includes(line.system)
		)
			wrong(
				"system",
				`there is no system "${line.system}"${didYouMean(line.system, keys)}`,
			);
		const found =
			line.case === undefined || !complete ? null : findCase(line.case, names);
		if (found && "wrong" in found) wrong("case", found.wrong);
		const silent = acknowledgesNothing(
			line.expect,
			systems.filter(({ key }) => (line.system ?? key) === key),
		);
		const meant = cases.filter(
			(one) => !found || ("name" in found && found.name === one?.name),
		);
		const unchecked = seesNoCorruption(line.expect, meant);
		const unseen = beyondDrain(line.expect, meant);
		for (const message of [silent, unchecked, unseen])
			if (message) wrong("kind" in result.data ? null : "expect", message);

		lines.push({
			expect: { ...line.expect, abort: line.abort },
			system: line.system ?? null,
			case: found && "name" in found ? found.name : null,
		});
	}
	return { lines, problems };
}

// --- internal ---

/** A case goes by its name, or by the words it begins with when no other case begins so. */
function findCase(
	asked: string,
	names: readonly string[],
): { name: string } | { wrong: string } {
	if (names.includes(asked)) return { name: asked };
	const matches = names.filter((name) => name.startsWith(`${asked} `));
	const [only, ...others] = matches;
	if (only !== undefined && others.length === 0) return { name: only };
	return {
		wrong:
			only === undefined
				? `there is no case "${asked}"${didYouMean(asked, names)}`
				: `"${asked}" begins the names of ${matches.length} cases (${matches.join(", ")}); write the whole name`,
	};
}

function acknowledgesNothing(
	expect: Sla,
	systems: readonly PlacedSystem[],
): string | undefined {
	if (expect.kind === "tally" || expect.metric !== "ack") return undefined;
	const silent = systems.filter(({ broker }) => !brokers[broker].acks);
	return silent.length === 0
		? undefined
		: `"${expect.text}": ${silent.map(({ key }) => key).join(" and ")} acknowledge${silent.length === 1 ? "s" : ""} nothing, so that there is no ack latency; use response or service, or name another system`;
}

function seesNoCorruption(
	expect: Sla,
	cases: readonly (Case | undefined)[],
): string | undefined {
	if (expect.kind !== "tally" || expect.tally !== "corrupted") return undefined;
	const blind = cases.find((one) => one && !one.checksum);
	return blind === undefined
		? undefined
		: `"${expect.text}": ${cases.length === 1 ? "messages" : `messages of case "${blind.name}"`} carry no checksum, so that corruption goes unseen; add checksum: true to workload`;
}

/** A message that is missing when the drain is over may have taken any time above it: a limit beyond cannot be judged. */
function beyondDrain(
	expect: Sla,
	cases: readonly (Case | undefined)[],
): string | undefined {
	if (expect.kind === "tally") return undefined;
	const short = cases.find((one) => one && one.drainNs < expect.limitNs);
	return short === undefined
		? undefined
		: `"${expect.text}": messages are waited for only ${formatDurationExact(short.drainNs)} after the last one is due (drain); raise drain, or lower the limit`;
}
