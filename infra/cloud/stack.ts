/**
 * What the lifecycle of a rented rig needs of Pulumi: one stack, its machines, and the file that remembers them. `automation.ts` is the
 * real one, over Pulumi's Automation API; tests pass a fake.
 */
export interface Stack {
	/** Makes what is not there; resolves with the program's output "rig". Aborting `signal` asks Pulumi once to leave in order. */
	up(options: StackOptions): Promise<unknown>;
	/** Takes everything down that the state knows of, after asking the cloud what is really there; goes on behind what fails. */
	destroy(options: StackOptions): Promise<void>;
	/** Drops the lock that a killed Pulumi has left. No lock is no mistake. */
	cancel(): Promise<void>;
	/** What the state still holds, for people: "aws:ec2/instance:Instance broker-1 (i-0abc)"; empty: nothing. */
	resources(): Promise<string[]>;
	/** What a Pulumi that was killed had begun to make, and nobody knows whether it is there: destroy does not see it. */
	unsure(): Promise<string[]>;
	/** Forgets the stack, when nothing is left of it. */
	remove(): Promise<void>;
}

export interface StackOptions {
	readonly signal: AbortSignal;
	/** Told of each step, a line for people. */
	say(line: string): void;
}
