import type { Sink, World } from "./world.ts";

/**
 * GitHub Actions reads commands out of what a step prints, on stdout and stderr: a line that begins with `::` behind blanks, and
 * `##[` anywhere in a line; CR ends a line as LF does. Texts from outside (a broker's error, a name) must not become one. So what begins
 * like a command is taken apart by a blank. Outside of GitHub Actions nothing changes; `issue` prints our own commands.
 */
export function guarded(world: World): World {
	if (world.env.GITHUB_ACTIONS !== "true" || guards.has(world.stdout)) return world;
	return { ...world, stdout: guardedSink(world.stdout), stderr: guardedSink(world.stderr) };
}

/** Prints a command of ours, as it is. */
export function issue(sink: Sink, line: string): void {
	(guards.get(sink) ?? sink).write(`${line}\n`);
}

/** Takes commands apart, in a text that begins where a line does. */
export function withoutCommands(text: string): string {
	return text.replaceAll(COMMAND, "$1 ").replaceAll(OLD_COMMAND, "$1 ");
}

// --- internal ---

/** From a guarded sink to what it guards. */
const guards = new WeakMap<Sink, Sink>();

/** Letters that take no room may be ignored where texts are compared by culture, as .NET does: with them it is a command as well. */
const COMMAND = /((?:^|[\r\n])[\s\p{C}\p{M}]*:(?:(?![\r\n])[\p{C}\p{M}])*)(?=:)/gu;
const OLD_COMMAND = /(#(?:(?![\r\n])[\p{C}\p{M}])*#(?:(?![\r\n])[\p{C}\p{M}])*)(?=\[)/gu;

function guardedSink(sink: Sink): Sink {
	/** What the line has so far: a command may come in two pieces. */
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
			// A blank is only ever put behind what was begun, never into it.
			sink.write(whole.slice(begun.length));
			begun = whole.slice(lastLine(whole));
		},
	};
	guards.set(guard, sink);
	return guard;
}

function lastLine(text: string): number {
	return Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
}
