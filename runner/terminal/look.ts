import type { Sink, World } from "../world.ts";

/** What a terminal, or whatever else is written to, can show. */
export interface TerminalLook {
	readonly columns: number;
	/** Lines of the screen; 24 where there is none. */
	readonly rows: number;
	readonly colour: boolean;
	/** Block characters may be drawn with. */
	readonly unicode: boolean;
	/** Lines may be rewritten in place. */
	readonly movable: boolean;
}

/** Looks at a sink and the environment. */
export function terminalLook(sink: Sink, env: World["env"]): TerminalLook {
	return {
		columns: sink.columns,
		rows: sink.rows ?? 24,
		colour: hasColour(sink.isTTY, env),
		unicode: isUtf8(env),
		movable: sink.isTTY && env.TERM !== "dumb",
	};
}

/** As Node itself decides: who forces colour gets it; then NO_COLOR; then what the terminal is. */
export function hasColour(isTTY: boolean, env: World["env"]): boolean {
	const { FORCE_COLOR, NO_COLOR, TERM } = env;
	if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
	return isTTY && !NO_COLOR && TERM !== "dumb";
}

// --- internal ---

/** The first that is set decides, as in the C library. The Linux console has no such characters in its font. */
function isUtf8({ LC_ALL, LC_CTYPE, LANG, TERM }: World["env"]): boolean {
	return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "") && TERM !== "linux";
}
