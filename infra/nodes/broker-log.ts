import { createWriteStream } from "node:fs";

/** `broker.log`: what all nodes of a broker say, and what mqbench does to them. */
export interface BrokerLog {
	/** A line of a node (from 1), or of what came before the nodes. */
	write(line: string, node?: number): void;
	/** What mqbench did to a node, with the time: brokers write theirs in front of their own lines. */
	note(what: string, node: number): void;
	/** The last few thousand characters. */
	tail(): string;
	lastWords(): string;
	close(): Promise<void>;
}

/** Opens the one log of all nodes: each line tells whose it is where there are several. */
export function openBrokerLog(
	file: string,
	nodes: number,
	nowMs: () => number,
): BrokerLog {
	const stream = createWriteStream(file, { flags: "a" });
	// A full disk must not end the run: the log is a convenience.
	stream.on("error", () => {});
	let tail = "";
	let worst: string | null = null;
	const write = (line: string, node?: number) => {
		const text = node === undefined || nodes === 1 ? line : `[${node}] ${line}`;
		tail = `${tail}${text}\n`.slice(-4000);
		if (SERIOUS.test(line)) worst = text;
		stream.write(`${text}\n`);
	};
	return {
		write,
		note(what, node) {
			// What it says from now on is of something else.
			worst = null;
			write(`${new Date(nowMs()).toISOString()} mqbench: ${what}`, node);
		},
		tail: () => tail,
		lastWords: () => {
			// Kafka tells why, and then for a long time how it shuts down.
			if (worst !== null) return worst;
			const lines = tail.trim().split("\n");
			// Java says what is wrong first, and then where it stood.
			return lines.findLast((line) => !STACK.test(line)) ?? lines.at(-1) ?? "";
		},
		close: () => new Promise<void>((resolve) => void stream.end(resolve)),
	};
}

// --- internal ---

/** As Kafka writes it. */
const SERIOUS = /^\S+Z (ERROR|FATAL) /;

const STACK = /^(\[\d+\] )?\s+(at |\.\.\. \d+ more)/;
