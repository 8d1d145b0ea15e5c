/** Everything outside mqbench that a stage may touch. `cli.ts` makes the real one; tests pass a fake. */
export interface World {
	readonly stdout: Sink;
	readonly stderr: Sink;
	readonly cwd: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly clock: Clock;
	/** Asks the user for a line; null without a terminal. */
	readonly ask: ((question: string) => Promise<string>) | null;
	/** The next line of standard input, null at its end. Absent if nothing is piped. */
	readonly nextLine?: (() => Promise<string | null>) | undefined;
	/** Aborted once by the first Ctrl-C or SIGTERM; `reason` is the signal's name. */
	readonly stop: AbortSignal;
	readonly interrupt?: () => void;
	/** Sets the text about machines that cost money if mqbench exits at once: a second Ctrl-C prints it, with exit code 5. Null clears it. */
	readonly leaving?: (text: string | null) => void;
}

export interface Sink {
	/** A person is watching, so one line may be rewritten in place. */
	readonly isTTY: boolean;
	readonly columns: number;
	readonly rows?: number | undefined;
	/** Prints any text: only line ends, tabs and our own colours have an effect. */
	write(text: string): void;
	/** Prints cursor movements and erasures as they are. By default the same as `write`. */
	control?(text: string): void;
}

export interface Clock {
	/** Wall clock, ms since 1970. Never used to measure. */
	nowMs(): number;
	/** Monotonic, ms. */
	monotonicMs(): number;
}
