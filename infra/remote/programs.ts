import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { sha256, sha256OfFile } from "../../runner/sha256.ts";
import { interrupted, orInterrupted } from "../../runner/stop.ts";
import { tell } from "../../runner/text/tell.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import type { RemoteHost } from "./host.ts";
import type { Link } from "./link.ts";
import { lastLine, unfit, unwritable } from "./trouble.ts";

export interface RemoteOptions {
	readonly world: World;
	readonly binaries: Pick<Binaries, "k6" | "agent" | "on">;
	/** Called with lines for people when something takes long. */
	say(line: string): void;
}

/** Paths of the programs on a host. */
export interface Programs {
	readonly k6: string;
	readonly agent: string;
}

/**
 * Copies the programs to a host unless they are there: into a folder named by their contents, each file checked by its sha256, renamed at
 * the end. Two mqbench can do this at the same time.
 */
export async function pushPrograms(
	host: RemoteHost,
	link: Link,
	options: RemoteOptions,
): Promise<Programs> {
	const { binaries } = options;
	const ours = { k6: await sha256OfFile(binaries.k6), agent: await sha256OfFile(binaries.agent) };
	const name = sha256(`${ours.k6} ${ours.agent}`).slice(0, 16);
	const answer = await link.run(FIND, [name]);
	const { folder } = answer.values;
	if (answer.code !== 0 || !folder) throw unwritable(host, "~/.cache/mqbench", answer.err);
	let pushed = false;
	for (const program of ["k6", "agent"] as const) {
		if (answer.values[program]?.startsWith(ours[program])) continue;
		await push(host, link, options, {
			program,
			folder,
			sum: ours[program],
			file: binaries[program],
		});
		pushed = true;
	}
	const there = { k6: `${folder}/k6`, agent: `${folder}/agent` };
	const runs = await link.run('"$1" clock </dev/null', [there.agent]);
	if (runs.code !== 0)
		throw unfit(
			host,
			runs.code === 126
				? `programs in ~/.cache/mqbench cannot be run there (${lastLine(runs.err)})`
				: `the programs do not run there (exit code ${runs.code}: ${lastLine(runs.err)})`,
			tell("noexec"),
		);
	if (pushed) await link.run(FORGET);
	return there;
}

// --- internal ---

/** Which programs are there. The folder's date is that of its last use. */
const FIND =
	'echo; umask 077; cd && f="$PWD/.cache/mqbench/bin/pushed-$1" && mkdir -p "$f" .cache/mqbench/runs && cd "$f" && touch . && echo "mqbench:folder=$f" && for p in k6 agent; do echo "mqbench:$p=$(sha256sum 2>/dev/null <"$p")"; done 2>/dev/null';

/** $1 folder, $2 program, $3 sha256. */
const PUSH =
	'umask 077; cd "$1" && p="$2.$$.part" && { cat >"$p" && [ "$(sha256sum <"$p" | cut -c1-64)" = "$3" ] && chmod 700 "$p" && mv -f "$p" "$2" || { rm -f "$p"; exit 1; }; }';

/** Removes programs of other versions that were not used for a month, and broken copies. */
const FORGET =
	'cd && cd .cache/mqbench/bin && find . -maxdepth 1 -name "pushed-*" -mtime +30 -exec rm -rf {} + ; find . -path "./pushed-*" -name "*.part" -mtime +0 -exec rm -f {} +';

/** A copy that takes longer than this is announced, and then again at this interval. */
const SLOW_MS = 2_000;

async function push(
	host: RemoteHost,
	link: Link,
	{ say, world }: Pick<RemoteOptions, "say" | "world">,
	what: { program: string; folder: string; sum: string; file: string },
): Promise<void> {
	const { size } = await stat(what.file);
	let copied = 0;
	const mb = (bytes: number) => Math.round(bytes / 1e6);
	const slow = setInterval(
		() => say(`  ${host.name}: copying ${what.program}, ${mb(copied)} of ${mb(size)} MB`),
		SLOW_MS,
	);
	try {
		const answer = await link.run(PUSH, [what.folder, what.program, what.sum], (stdin) => {
			const source = createReadStream(what.file);
			source.on("data", (piece) => {
				copied += piece.length;
			});
			// A command that ends early says why on stderr.
			pipeline(source, stdin, { signal: world.stop }).catch(() => {
				stdin.destroy();
			});
		});
		if (answer.code !== 0) throw unwritable(host, "~/.cache/mqbench", answer.err);
		orInterrupted(world.stop);
	} catch (error) {
		throw world.stop.aborted ? interrupted(world.stop) : error;
	} finally {
		clearInterval(slow);
	}
}
