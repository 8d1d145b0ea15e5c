import { processFields } from "../brokers/fields.ts";
import { BrokerName, brokerOf, loginUrl, realBrokers } from "../brokers/index.ts";
import { workloadFields } from "../model/workload.ts";
import { didYouMean, suggest } from "../suggest.ts";
import { removed } from "../text/removed.ts";
import { tell } from "../text/tell.ts";
import { otherToolsWord } from "./other-tools.ts";
import { noun, placeOf, quoted, systemBroker } from "./place.ts";
import type { Path } from "./problem.ts";
import { ScenarioFile } from "./schema.ts";
import { fits, keysAt } from "./schema-walk.ts";
import { meantObjective } from "./sla.ts";
import { valueAt, type Written } from "./written.ts";

/** What to do about a key that means nothing at its place. */
export function unknownKey(path: Path, key: string, whole: unknown): string {
	const gone = removed(`${key}:`);
	if (gone !== undefined) return gone;
	const place = placeOf(path);
	const map = valueAt(whole, path) as Written;
	const known = keysAt(path, whole);
	const near = suggest(key, known);
	if (place === "system") {
		const broker = systemBroker(path, whole);
		if (Object.hasOwn(processFields, key))
			return tell(realBrokers.includes(broker) ? "option-without-effect" : "no-process-option", {
				key,
				broker,
			});
		if (LOGIN.includes(key.toLowerCase()) && realBrokers.includes(broker))
			return tell("login-as-key", { ...loginUrl(brokerOf({ broker })), key: quoted(key) });
		const others = BrokerName.options.filter(
			(other) => other !== broker && Object.hasOwn(brokerOf({ broker: other }).options.shape, key),
		);
		// ack: all of Kafka is acks, though RabbitMQ has an ack.
		const meant = near !== undefined && fits([...path, near], whole, map[key]);
		if (others.length > 0 && !meant)
			return tell("other-brokers-option", { key, brokers: others.join(" and "), broker });
	}
	if (place === "sla") {
		const line = meantObjective(key, map[key]);
		if (line !== undefined) return tell("objective-as-key", { line });
	}
	const unknown = (meant: string) => tell("unknown", { what: "key", word: quoted(key), meant });
	const word = otherToolsWord(place, key);
	if (word) return unknown(known.includes(word) ? `; did you mean ${word}?` : `; write ${word}`);
	if (place === "scenario" && workloadKeys.includes(key)) return tell("under-workload", { key });
	const ofWorkload = place === "workload" || place === "case" || place === "matrix";
	if (ofWorkload && Object.hasOwn(ScenarioFile.shape, key))
		return tell("at-top-level", { key, place: path[0] });
	// One alternative knows this key and another those beside it: a payload of a file that is random.
	if (known.includes(key)) {
		const both = Object.keys(map).filter((one) => known.includes(one));
		return tell("one-of-keys", { what: noun(path), keys: both.join(" or ") });
	}
	return unknown(didYouMean(key, known));
}

// --- internal ---

/** What people write for who logs in. */
const LOGIN = ["password", "passwd", "pass", "user", "username", "auth", "token"];

const workloadKeys: readonly string[] = workloadFields;
