import { Metric } from "../../model/plan.ts";
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
		const negative = hasClocks(facts.collected)
			? 0
			: sums.reduce((n, s) => n + s.negative, 0);
		return {
			...(clamped + negative > 0
				? {
						status: "warn",
						detail: `${formatCount(clamped)} values above 1h were recorded as 1h, ${formatCount(negative)} below 0 as 0`,
					}
				: { status: "ok", detail: "every value was within 0 and 1h" }),
			...{ figure: formatCount(clamped + negative), limit: "0" },
			remedy: "see whether the machine's clock was set back meanwhile",
		};
	},
};
