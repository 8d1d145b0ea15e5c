import { MqbenchError } from "../../runner/errors.ts";

/** Of what fails the sentence is kept, to be said with others. */
export function gatheredIn(wrong: string[]): (error: unknown) => void {
	return (error) => {
		if (!(error instanceof MqbenchError) || error.code === "interrupted")
			throw error;
		wrong.push(error.message);
	};
}
