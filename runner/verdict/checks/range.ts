import { Metric } from "../../model/plan.ts";
import { say } from "../../text/say.ts";
import { formatCount } from "../../units.ts";
import { sumsOf } from "../facts.ts";
import type { Check } from "./check.ts";
import { hasClocks } from "./clock.ts";

/** Was every value one that a histogram can hold? */
export const range: Check = {
	name: "range",
	judge(facts) {
		const sums = Metric.options.map((m) => sumsOf(facts, m));
		const clamped = sums.reduce((n, s) => n + s.clamped, 0);
		// Of clocks on several machines `clock` says what they mean.
		const negative = hasClocks(facts.collected) ? 0 : sums.reduce((n, s) => n + s.negative, 0);
		return {
			...(clamped + negative > 0
				? { status: "warn", said: say("values-out-of-range", { clamped, negative }) }
				: { status: "ok", said: say("values-in-range") }),
			figure: formatCount(clamped + negative),
			limit: "0",
			remedy: say("clock-set-back"),
		};
	},
};
