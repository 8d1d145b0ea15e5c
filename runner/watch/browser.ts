import { spawn } from "node:child_process";
import { withoutSecrets } from "../secrets.ts";
import type { World } from "../world.ts";

/** Opens a browser that outlives mqbench and gets none of its secrets, or prints on stderr why not and to open `shown`. Never rejects. */
export async function openOrSay(
	address: string,
	shown: string,
	{ env, stderr }: Pick<World, "env" | "stderr">,
	platform: string = process.platform,
): Promise<void> {
	const [program, ...args] = (OPENERS[platform] ?? OPENER)(address);
	const why = await new Promise<string | null>((resolve) => {
		const child = spawn(program, args, {
			detached: true,
			stdio: "ignore",
			env: withoutSecrets(env),
			// cmd would take quotes as part of the address.
			windowsVerbatimArguments: true,
		});
		const asked = setTimeout(() => resolve(null), ASKED_MS);
		const over = (why: string | null) => {
			clearTimeout(asked);
			resolve(why);
		};
		child.once("error", () => over(`there is no ${program} here to open a browser with`));
		child.once("exit", (code) => over(code === 0 ? null : `${program} could not open a browser`));
		child.unref();
	});
	if (why !== null) stderr.write(`--open: ${why}; open ${shown} yourself.\n`);
}

// --- internal ---

/** The program, by platform, that opens an address in the default browser, with its arguments. */
const OPENERS: Readonly<Record<string, (address: string) => readonly [string, ...string[]]>> = {
	darwin: (address) => ["open", address],
	win32: (address) => ["cmd", "/c", "start", '""', address],
};
const OPENER = (address: string) => ["xdg-open", address] as const;
/** By then an existing browser has been asked. */
const ASKED_MS = 2000;
