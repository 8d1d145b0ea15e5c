import { spawn } from "node:child_process";
import { withoutSecrets } from "../secrets.ts";
import { tell } from "../text/tell.ts";
import type { World } from "../world.ts";

/**
 * Opens a file or a URL in a browser, which outlives mqbench. Resolves with null, or with a sentence that says why nothing opened and what to
 * open by hand; `shown` is what a person is told to open. The browser outlives the command, and gets none of the secrets that this was given. Never
 * rejects.
 */
export async function openInBrowser(
	address: string,
	shown: string,
	{ env }: Pick<World, "env">,
	platform: string = process.platform,
): Promise<string | null> {
	const [program, ...args] = (OPENERS[platform] ?? OPENER)(address);
	const why = await new Promise<string | null>((resolve) => {
		const child = spawn(program, args, {
			detached: true,
			stdio: "ignore",
			env: withoutSecrets(env),
			// cmd would take quotes for a part of the address.
			windowsVerbatimArguments: true,
		});
		const asked = setTimeout(() => resolve(null), ASKED_MS);
		const over = (why: string | null) => {
			clearTimeout(asked);
			resolve(why);
		};
		child.once("error", () => over(tell("opener-missing", { program })));
		child.once("exit", (code) => over(code === 0 ? null : tell("opener-failed", { program })));
		child.unref();
	});
	return why === null ? null : tell("open-by-hand", { why, shown });
}

/** The same; what is to be opened by hand is said. */
export async function openOrSay(
	address: string,
	shown: string,
	world: Pick<World, "env" | "stderr">,
): Promise<void> {
	const text = await openInBrowser(address, shown, world);
	if (text !== null) world.stderr.write(`${text}\n`);
}

// --- internal ---

/** The program of this machine that opens an address in the browser which a person has chosen, and its arguments. */
const OPENERS: Readonly<Record<string, (address: string) => readonly [string, ...string[]]>> = {
	darwin: (address) => ["open", address],
	win32: (address) => ["cmd", "/c", "start", '""', address],
};
const OPENER = (address: string) => ["xdg-open", address] as const;

/** A browser that is there has been asked by then. */
const ASKED_MS = 2000;
