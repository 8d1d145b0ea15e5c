import { failure } from "../runner/errors.ts";
import { orInterrupted } from "../runner/stop.ts";
import type { World } from "../runner/world.ts";

/** Asks a yes-or-no question. Fails with `usage` without a terminal to answer it. */
export async function agreed(
	question: string,
	world: Pick<World, "ask" | "stop">,
): Promise<boolean> {
	if (world.ask === null)
		throw failure("usage", { message: `${question} There is no terminal to ask on: use --yes.` });
	const answer = await world.ask(`${question} [y/N] `);
	orInterrupted(world.stop);
	return /^y(es)?$/i.test(answer.trim());
}
