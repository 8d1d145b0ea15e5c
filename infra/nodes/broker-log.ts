import { openBoundedLog } from "../../runner/bounded-log.ts";
import { hide } from "../../runner/secrets.ts";

/** `broker.log`: the output of all nodes of a broker, and mqbench's actions on them. */
export interface BrokerLog {
	/** A line of a node (from 1), or of the preparations. */
	write(line: string, node?: number): void;
	/** An action of mqbench on a node, with the time in the form that brokers use. */
	note(what: string, node: number): void;
	/** The last few thousand characters. */
	tail(): string;
	lastWords(): string;
	close(): Promise<void>;
}

/** Opens the one log of all nodes, in which none of `secrets` appears. If there are several, each line begins with the node's number. */
export function openBrokerLog(
	file: string,
	nodes: number,
	nowMs: () => number,
	secrets: readonly string[] = [],
): BrokerLog {
	const log = openBoundedLog(file);
	let tail = "";
	let worst: string | null = null;
	const write = (said: string, node?: number) => {
		const line = hide(said, secrets);
		const text = node === undefined || nodes === 1 ? line : `[${node}] ${line}`;
		tail = `${tail}${text}\n`.slice(-4000);
		if (SERIOUS.test(line)) worst = text;
		log.write(text);
	};
	return {
		write,
		note(what, node) {
			// Its output from now on is about something else.
			worst = null;
			write(`${new Date(nowMs()).toISOString()} mqbench: ${what}`, node);
		},
		tail: () => tail,
		lastWords: () => {
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
