import { say } from "../../text/say.ts";
import { formatDurationExact } from "../../units.ts";
import { type Check, NOT_COUNTED } from "./check.ts";

/** Was latency steady when the window opened? Only a warm-up until steady has promised it. */
export const warmUp: Check = {
	name: "warm-up",
	applies: ({ plan }) => plan.schedule.steady !== null,
	judge({ collected: { plan, totals } }) {
		const { steady, warmupNs } = plan.schedule;
		if (totals === null || steady === null) return NOT_COUNTED;
		const times = {
			figure: formatDurationExact(warmupNs),
			limit: formatDurationExact(steady.toNs),
		};
		if (warmupNs < steady.toNs)
			return { status: "ok", said: say("warmed-up", { warmupNs }), ...times };
		return {
			status: plan.strict ? "invalid" : "warn",
			said: say("never-steady", { warmupNs }),
			...times,
			remedy: say("warm-up-fixed"),
		};
	},
};
