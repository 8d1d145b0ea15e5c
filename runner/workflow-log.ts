import type { Sink, World } from "./world.ts";

/**
 * GitHub Actions reads commands from a step's output: `::` after leading blanks, `##[` anywhere, lines end in CR or LF. A blank splits such
 * text from outside (a broker's error, a name), which is then not a command. Elsewhere nothing changes; `issue` prints our own commands.
 */
export function guarded(world: World): World {
	if (world.env.GITHUB_ACTIONS !== "true" || guards.has(world.stdout)) return world;
	return { ...world, stdout: guardedSink(world.stdout), stderr: guardedSink(world.stderr) };
}

export function issue(sink: Sink, line: string): void {
	(guards.get(sink) ?? sink).write(`${line}\n`);
}

/** For a text that begins a line. */
export function withoutCommands(text: string): string {
	return text.replaceAll(COMMAND, "$1 ").replaceAll(OLD_COMMAND, "$1 ");
}

// --- internal ---

/** From a guarded sink to the unguarded one. */
const guards = new WeakMap<Sink, Sink>();

/** .NET compares texts by culture and may ignore letters without width, so a command may contain them. */
const COMMAND = /((?:^|[\r\n])[\s\p{C}\p{M}]*:(?:(?![\r\n])[\p{C}\p{M}])*)(?=:)/gu;
const OLD_COMMAND = /(#(?:(?![\r\n])[\p{C}\p{M}])*#(?:(?![\r\n])[\p{C}\p{M}])*)(?=\[)/gu;

function guardedSink(sink: Sink): Sink {
	/** The line so far: a command may come in two pieces. */
	let begun = "";
	const guard: Sink = {
		...(sink.control ? { control: (text) => sink.control?.(text) } : {}),
		get isTTY() {
			return sink.isTTY;
		},
		get columns() {
			return sink.columns;
		},
		get rows() {
			return sink.rows;
		},
		write(text) {
			const whole = withoutCommands(begun + text);
			// Blanks go only after the text printed already, never into it.
			sink.write(whole.slice(begun.length));
			begun = whole.slice(Math.max(whole.lastIndexOf("\n"), whole.lastIndexOf("\r")) + 1);
		},
	};
	guards.set(guard, sink);
	return guard;
}
