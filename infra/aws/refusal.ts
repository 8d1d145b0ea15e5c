import { RunError } from "@pulumi/pulumi";

/**
 * An error that Pulumi prints as it is, without a stack.
 *
 * Subtle: it must have none. Pulumi prints all stacks in colours as well, for its traces, and Node's util.inspect never comes to an end of a
 * line that has "/node_modules/@pulumi/resource.ts" in it, as Pulumi's source maps make them: 15 to 30 s until the text is too long.
 */
export function refusal(sentence: string): RunError {
	const error = new RunError(sentence);
	error.stack = "";
	return error;
}
