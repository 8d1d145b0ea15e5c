import { LOST } from "../remote/link.ts";
import type { BrokerHost } from "./host.ts";

/** Runs a command there to its end, with empty standard input. Fails as the connection does. */
export async function ask(
	{ link }: BrokerHost,
	argv: readonly string[],
): Promise<{ code: number; said: string }> {
	const child = link.spawn('exec "$@" 2>&1 </dev/null', argv);
	child.stdin.end();
	let said = "";
	let err = "";
	child.stdout.setEncoding("utf8").on("data", (text) => {
		said += text;
	});
	child.stderr.setEncoding("utf8").on("data", (text) => {
		err += text;
	});
	// A program that never answers counts as broken.
	const hangs = setTimeout(() => child.kill("SIGKILL"), ASK_MS);
	const code = await child.code;
	clearTimeout(hangs);
	if (code === LOST && !link.alive()) throw await link.lost(err);
	return { code, said };
}

// --- internal ---

const ASK_MS = 60_000;
