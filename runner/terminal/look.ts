import type { Sink, World } from "../world.ts";

/** What a terminal, or whatever else is written to, can show. */
export interface TerminalLook {
	readonly columns: number;
	readonly colour: boolean;
	/** Lines may be rewritten in place. */
	readonly movable: boolean;
}

/** Looks at a sink and the environment. */
export function terminalLook(sink: Sink, env: World["env"]): TerminalLook {
	return {
		columns: sink.columns,
		colour: hasColour(sink.isTTY, env),
		movable: sink.isTTY && env.TERM !== "dumb",
	};
}

/** As Node itself decides: who forces colour gets it; then NO_COLOR; then what the terminal is. */
export function hasColour(isTTY: boolean, env: World["env"]): boolean {
	const { FORCE_COLOR, NO_COLOR, TERM } = env;
	if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
	return isTTY && !NO_COLOR && TERM !== "dumb";
}
