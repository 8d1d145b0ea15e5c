import { processFields } from "../brokers/fields.ts";
import { BrokerName, brokerOf } from "../brokers/index.ts";
import { workloadFields } from "../model/workload.ts";
import { didYouMean, suggest } from "../suggest.ts";
import { forbiddenBeside, overlay } from "./loads.ts";
import { otherToolsWord, type Place } from "./other-tools.ts";
import { placeOf, quoted, systemBroker } from "./place.ts";
import type { Path } from "./problem.ts";
import { ScenarioFile } from "./schema.ts";
import { fits, keysAt } from "./schema-walk.ts";
import { meantObjective } from "./sla.ts";
import { isMap, valueAt, type Written } from "./written.ts";

/** What to do about a key that means nothing at its place. */
export function unknownKey(path: Path, key: string, whole: unknown): string {
	const place = placeOf(path);
	const map = valueAt(whole, path) as Written;
	const known = keysAt(path, whole);
	const near = suggest(key, known);
	if (place === "system") {
		const broker = systemBroker(path, whole);
		if (Object.hasOwn(processFields, key))
			return `${key} has no effect on ${broker}, which has no broker process; remove ${key}`;
		const others = BrokerName.options.filter(
			(other) =>
				other !== broker &&
				Object.hasOwn(brokerOf({ broker: other }).options.shape, key),
		);
		// ack: all of Kafka is acks, though RabbitMQ has an ack.
		const meant = near !== undefined && fits([...path, near], whole, map[key]);
		if (others.length > 0 && !meant)
			return `${key} is an option of ${others.join(" and ")}, not of ${broker}; remove ${key}`;
	}
	if (place === "sla") {
		const line = meantObjective(key, map[key]);
		if (line !== undefined)
			return `an objective is text, not a key; write - ${line}`;
	}
	const word = otherToolsWord(place, key);
	const unknown = `unknown key ${quoted(key)}`;
	const candidate = word ?? near;
	const load = candidate && forbiddenHere(place, candidate, map, whole);
	if (load)
		return `${unknown}; remove it, as a load with ${load} takes no ${candidate}`;
	if (word)
		return known.includes(word)
			? `${unknown}; did you mean ${word}?`
			: `${unknown}; write ${word}`;
	if (place === "scenario" && workloadKeys.includes(key))
		return `${key} belongs under workload; move it there`;
	const above = place === "workload" || place === "case" || place === "matrix";
	if (above && place !== "case" && key === "sla")
		return `sla belongs at the top level, not under ${path[0]}; move it there`;
	if (above && scenarioKeys.includes(key))
		return `${key} belongs at the top level, not under ${path[0]}; move it there`;
	return `${unknown}${didYouMean(key, known)}`;
}

// --- internal ---

const scenarioKeys = Object.keys(ScenarioFile.shape);
const workloadKeys: readonly string[] = workloadFields;

/** The field of the load that leaves no room for another one; undefined: there is none. */
function forbiddenHere(
	place: Place,
	field: string,
	map: Written,
	whole: unknown,
): string | undefined {
	if (place !== "workload" && place !== "case") return undefined;
	const shared = valueAt(whole, ["workload"]);
	return forbiddenBeside(field, overlay(isMap(shared) ? shared : {}, map));
}
