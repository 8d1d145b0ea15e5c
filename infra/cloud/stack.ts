/**
 * What the lifecycle of a rented rig needs from Pulumi: one stack, its machines, and the file that remembers them. `automation.ts` is the real
 * one, over Pulumi's Automation API; tests pass a fake.
 */
export interface Stack {
	/** Makes what is missing; resolves with the program's output "rig". Aborting `signal` asks Pulumi once to end properly. */
	up(options: StackOptions): Promise<unknown>;
	/** Takes down everything that the state knows, after asking the cloud what really exists; goes on after failures. */
	destroy(options: StackOptions): Promise<void>;
	/** Drops the lock that a killed Pulumi has left. It is fine if there is none. */
	cancel(): Promise<void>;
	/**
	 * What the state still has, for people: "aws:ec2/instance:Instance broker-1 (i-0abc)"; empty: nothing. null: there is no state, which was
	 * never written or is lost.
	 */
	resources(): Promise<string[] | null>;
	/** What a killed Pulumi was about to make and may exist: destroy does not see it. */
	unsure(): Promise<string[]>;
	/** Forgets the stack, when nothing is left of it. */
	remove(): Promise<void>;
}

export interface StackOptions {
	readonly signal: AbortSignal;
	/** Called with each step, a line for people. */
	say(line: string): void;
}
