import type { Sink, World } from "../world.ts";

export interface TerminalLook {
	readonly columns: number;
	readonly colour: boolean;
	readonly movable: boolean;
}

export function terminalLook(sink: Sink, env: World["env"]): TerminalLook {
	return {
		columns: sink.columns,
		colour: hasColour(sink.isTTY, env),
		movable: sink.isTTY && env.TERM !== "dumb",
	};
}

/** Node's own order: forced colour, then NO_COLOR, then the terminal. */
export function hasColour(isTTY: boolean, env: World["env"]): boolean {
	const { FORCE_COLOR, NO_COLOR, TERM } = env;
	if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
	return isTTY && !NO_COLOR && TERM !== "dumb";
}
