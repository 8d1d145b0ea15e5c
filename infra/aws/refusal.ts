import { RunError } from "@pulumi/pulumi";

/**
 * An error that Pulumi prints without a stack.
 *
 * Subtle: it must not have one. Pulumi also prints each stack in colours for its traces, and Node's util.inspect takes 15 to 30 s for a line
 * with "/node_modules/@pulumi/resource.ts" in it, as Pulumi's source maps write it.
 */
export function refusal(sentence: string): RunError {
	const error = new RunError(sentence);
	error.stack = "";
	return error;
}
