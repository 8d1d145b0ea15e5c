import type { World } from "./world.ts";

/** Keeps all output; its time stands still. */
export interface FakeWorld extends World {
	out(): string;
	err(): string;
}

/** By default a plain terminal without environment. */
export function fakeWorld(
	parts: Partial<Pick<World, "cwd" | "env" | "clock" | "stop" | "ask" | "nextLine">> = {},
): FakeWorld {
	const out: string[] = [];
	const err: string[] = [];
	const sink = (texts: string[]) => ({
		isTTY: false,
		columns: 80,
		write(text: string) {
			texts.push(text);
		},
	});
	return {
		stdout: sink(out),
		stderr: sink(err),
		cwd: "/nowhere",
		env: {},
		clock: { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5), monotonicMs: () => 0 },
		ask: null,
		stop: new AbortController().signal,
		...parts,
		out: () => out.join(""),
		err: () => err.join(""),
	};
}
