import { percent } from "../../text/percent.ts";
import { say } from "../../text/say.ts";
import { saturationOf } from "../saturation.ts";
import { type Check, unknown } from "./check.ts";
import { worstMachine } from "./cpu.ts";
import { IDLE_SHARE, SATURATED_SHARE } from "./limits.ts";

/**
 * Was there a free core when generator or broker wanted one? What fails without is the machine's doing as well: the FAIL stands, with its
 * `cause`; under `strict` it is INVALID.
 */
export const cores: Check = {
	name: "cores",
	judge: (facts, judgements) =>
		worstMachine(facts, (machine) => {
			const saturation = saturationOf(machine, facts);
			if (saturation === null) return unknown(say("cores-unknown"), say("read-proc"));
			const { idle, wait, share } = saturation;
			const values = { idleShare: idle, waitShare: wait };
			const lines = judgements.filter((j) => j.cause).map((j) => j.sla);
			const { strict } = facts.collected.plan;
			return {
				...(share < SATURATED_SHARE
					? { status: "ok", said: say("cores", values) }
					: lines.length === 0
						? { status: "warn", said: say("cores-saturated", { ...values, share }) }
						: {
								status: strict ? "invalid" : "warn",
								said: say("cores-decided", { ...values, share, lines }),
							}),
				figure: `${percent(idle)} idle`,
				limit: percent(IDLE_SHARE),
				remedy: say("room-for-both"),
			};
		}),
};
