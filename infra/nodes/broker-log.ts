import { openBoundedLog } from "../../runner/bounded-log.ts";
import { hide } from "../../runner/secrets.ts";

/** `broker.log`: the output of all nodes of a broker, and mqbench's actions on them. */
export type BrokerLog = ReturnType<typeof openBrokerLog>;

/** Opens the one log of all nodes, in which none of `secrets` appears. If there are several, each line begins with the node's number. */
export function openBrokerLog(
	file: string,
	nodes: number,
	nowMs: () => number,
	secrets: readonly string[] = [],
) {
	const log = openBoundedLog(file);
	let tail = "";
	let worst: string | null = null;
	/** A line of a node (from 1), or of the preparations. */
	const write = (said: string, node?: number) => {
		const line = hide(said, secrets);
		const text = node === undefined || nodes === 1 ? line : `[${node}] ${line}`;
		tail = `${tail}${text}\n`.slice(-4000);
		if (SERIOUS.test(line)) worst = text;
		log.write(text);
	};
	return {
		write,
		/** An action of mqbench on a node, with the time in the form that brokers use. */
		note(what: string, node: number): void {
			// Its output from now on is about something else.
			worst = null;
			write(`${new Date(nowMs()).toISOString()} mqbench: ${what}`, node);
		},
		/** The last few thousand characters. */
		tail: () => tail,
		lastWords(): string {
			// Kafka prints the reason, and then reports its shutdown at length.
			if (worst !== null) return worst;
			const lines = tail.trim().split("\n");
			// Java prints the error first, and then its place.
			return lines.findLast((line) => !STACK.test(line)) ?? lines.at(-1) ?? "";
		},
		close: () => log.close(),
	};
}

// --- internal ---

/** The form that Kafka uses. */
const SERIOUS = /^\S+Z (ERROR|FATAL) /;

const STACK = /^(\[\d+\] )?\s+(at |\.\.\. \d+ more)/;
