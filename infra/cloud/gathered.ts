import { MqbenchError } from "../../runner/errors.ts";

/** Keeps the sentences of failures, to report them together. */
export function gatheredIn(wrong: string[]): (error: unknown) => void {
	return (error) => {
		if (!(error instanceof MqbenchError) || error.code === "interrupted") throw error;
		wrong.push(error.message);
	};
}
