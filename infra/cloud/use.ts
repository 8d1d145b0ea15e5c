import { type ExitCode, failure, MqbenchError } from "../../runner/errors.ts";
import { maskUrls } from "../../runner/secrets.ts";
import { commandLine } from "../../runner/shell.ts";
import type { World } from "../../runner/world.ts";
import type { CloudRig } from "./lifecycle.ts";

/**
 * Uses machines, and takes them down in any case. The exit code is that of the use, except that 5 (something is left) takes precedence. A failure
 * of the use is reported first.
 */
export async function useThenTakeDown(
	rig: CloudRig,
	say: (line: string) => void,
	world: World,
	use: () => Promise<ExitCode>,
): Promise<ExitCode> {
	let outcome: { code: ExitCode } | { error: unknown };
	try {
		outcome = { code: await use() };
	} catch (error) {
		outcome = { error };
	}
	say(`Taking down the rig ${rig.file.id} ...`);
	try {
		await rig.teardown();
	} catch (error) {
		if ("error" in outcome) world.stderr.write(`${maskUrls(wordsOf(outcome.error))}\n`);
		throw asLeft(error, rig.file.id);
	}
	say(`The rig ${rig.file.id} is down; nothing of it is left.`);
	if ("error" in outcome) throw outcome.error;
	return outcome.code;
}

// --- internal ---

/** A bug of ours in taking down must not hide that machines may be left. */
function asLeft(error: unknown, id: string): MqbenchError {
	if (
		error instanceof MqbenchError &&
		(error.code === "cloud-left" || error.code === "rig-unforgotten")
	)
		return error;
	return failure("cloud-left", {
		text: `The rig ${id} may not be down: ${wordsOf(error)}\nTake it down: mqbench rigs destroy ${commandLine([id])}`,
	});
}

function wordsOf(error: unknown): string {
	if (error instanceof MqbenchError) return error.message;
	return error instanceof Error ? (error.stack ?? error.message) : `${error}`;
}
