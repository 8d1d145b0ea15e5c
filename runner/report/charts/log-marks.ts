import type { Run } from "../../model/result.ts";
import { sum } from "../../stats/sum.ts";
import { shortened } from "../../terminal/columns.ts";
import { tell } from "../../text/tell.ts";
import { formatCount } from "../../units.ts";
import type { TimeFigure } from "./figure.ts";
import { rounded } from "./points.ts";

/** What the broker logged, for the axis of time; in small pictures some of what is serious. */
export function logOf(
	{ brokerLog, window }: Run,
	small: boolean,
): Pick<TimeFigure, "log" | "logTitle"> {
	const { lines: all = [], more = 0 } = brokerLog ?? {};
	const several = all.some(({ node }) => node > 1);
	const lines = small ? all.filter(({ serious }) => serious).slice(0, MOST_SMALL) : all;
	const shown = sum(lines.map(({ times }) => times));
	const every = sum(all.map(({ times }) => times)) + more;
	return lines.length === 0
		? {}
		: {
				logTitle:
					shown === every ? tell("log-triangles") : tell("log-triangles-some", { shown, every }),
				log: lines.map(({ atNs, node, serious, text, times }) => {
					const second = rounded((atNs - window.startNs) / 1e9);
					const who = several ? tell("node-logged", { node }) : tell("broker-logged");
					const often = times === 1 ? "" : ` (${formatCount(times)} times)`;
					const said = `${shortened(text, MOST_TEXT)}${often}`;
					const all = `${who}${second.toFixed(3)}s: ${said}`;
					return { second, text: all, serious };
				}),
			};
}

// --- internal ---

/** Lines of the broker in a picture of one of many runs. */
const MOST_SMALL = 5;
const MOST_TEXT = 100;
