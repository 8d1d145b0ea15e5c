import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";

/** A refusal of the system is `cloud-state`, with the place. */
export async function orUnwritable<T>(where: string, act: () => T | Promise<T>): Promise<T> {
	try {
		return await act();
	} catch (error) {
		if (error instanceof MqbenchError) throw error;
		if ((error as NodeJS.ErrnoException).code === undefined) throw error;
		throw failure("cloud-state", { path: where, reason: reasonOf(error) });
	}
}
