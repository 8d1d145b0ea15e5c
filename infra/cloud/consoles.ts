import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { maskSameLength, maskUrls } from "../../runner/secrets.ts";
import type { CloudRig } from "./lifecycle.ts";
import { whyOf } from "./take-down.ts";

/** Consoles of machines that did not come up. */
export interface Consoles {
	/** Fetches what a machine has written to its console; once for each. Never fails. */
	fetch(host: string): Promise<void>;
	/** Stores what was fetched in the folder of the runs, and says the last lines of each. Never fails. */
	keep(): Promise<void>;
}

/** Of the machines of a rig. They must be fetched while the machine exists. */
export function consolesOf(
	rig: Pick<CloudRig, "console">,
	folder: string,
	say: (line: string) => void,
): Consoles {
	const fetched = new Map<string, Promise<{ text: string } | { why: string }>>();
	return {
		async fetch(host) {
			const asked =
				fetched.get(host) ??
				rig.console(host).then(
					(text) => ({ text: readable(text) }),
					(error) => ({ why: whyOf(error) }),
				);
			fetched.set(host, asked);
			await asked;
		},
		async keep() {
			for (const [host, asked] of fetched) {
				const found = await asked;
				if ("why" in found) {
					say(`${host} did not come up, and AWS did not give its console (${found.why}).`);
					continue;
				}
				const { text } = found;
				if (text === "") {
					say(`${host} did not come up, and has written nothing to its console.`);
					continue;
				}
				const file = path.join(folder, `console-${host}.log`);
				const last = text.trimEnd().split("\n").slice(-LINES);
				say(`${host} did not come up. The end of its console (all of it: ${file}):`);
				for (const line of last) say(`  ${line}`);
				try {
					await mkdir(folder, { recursive: true });
					await writeFile(file, text, { mode: 0o600 });
				} catch (error) {
					say(`The console of ${host} could not be stored: ${whyOf(error)}.`);
				}
			}
		},
	};
}

// --- internal ---

/** Told of each console. */
const LINES = 12;

/** Without what moves a terminal's cursor, and without secrets: a script there may print any. */
function readable(text: string): string {
	const plain = text
		.replaceAll("\r", "")
		// biome-ignore lint/suspicious/noControlCharactersInRegex: those of a terminal are to go.
		.replaceAll(/\x1b\[[\d;?]*[a-zA-Z]|[\x00-\x08\x0b-\x1f\x7f]/g, "")
		.replaceAll(/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|$)/gs, "***");
	return maskSameLength(maskUrls(plain));
}
