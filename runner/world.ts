/**
 * Everything outside of mqbench that a stage may touch. `cli.ts` makes the real one; tests pass a fake.
 */
export interface World {
	readonly stdout: Sink;
	readonly stderr: Sink;
	/** Folder against which relative paths are resolved. */
	readonly cwd: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly clock: Clock;
	/** Asks the person at the terminal for a line; null: nobody is there to ask. */
	readonly ask: ((question: string) => Promise<string>) | null;
	/** The next line of a pipe or a file on standard input; null: there are no more. Left out: nothing is piped. */
	readonly nextLine?: (() => Promise<string | null>) | undefined;
	/** Aborted once by the first Ctrl-C or SIGTERM; `reason` is the signal's name. */
	readonly stop: AbortSignal;
	/** Does what one Ctrl-C does. Tests may do without. */
	readonly interrupt?: () => void;
	/**
	 * Told what costs money and stays if mqbench goes at once: who presses Ctrl-C a second time reads it, and the exit code is 5. null:
	 * nothing any more. Tests may do without.
	 */
	readonly leaving?: (text: string | null) => void;
	/** Called when a host that was rented has not come up in time, before it is said: whoever rented it may look why. */
	readonly notUp?: (host: string) => Promise<void>;
}

export interface Sink {
	/** True when a person is watching: one line may then be rewritten in place. */
	readonly isTTY: boolean;
	readonly columns: number;
	/** Lines of the screen; undefined: there is none. */
	readonly rows?: number | undefined;
	/** Prints a text, whatever it holds: only line ends, tabs and our own colours have an effect. */
	write(text: string): void;
	/** Prints as it is what moves the cursor and erases. Left out: as `write`. */
	control?(text: string): void;
}

export interface Clock {
	/** Wall clock, milliseconds since 1970. Never used to measure. */
	nowMs(): number;
	/** Monotonic, milliseconds. */
	monotonicMs(): number;
}
