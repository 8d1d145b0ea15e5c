import { failure } from "../runner/errors.ts";
import { orInterrupted } from "../runner/stop.ts";
import { tell } from "../runner/text/tell.ts";
import type { World } from "../runner/world.ts";

/** Asks a yes-or-no question. Fails with `usage` if there is nobody to answer. */
export async function agreed(question: string, world: World): Promise<boolean> {
	if (world.ask === null) throw failure("usage", { message: tell("nobody-to-ask", { question }) });
	const answer = await world.ask(`${question} [y/N] `);
	orInterrupted(world.stop);
	return /^y(es)?$/i.test(answer.trim());
}
