import { execFile } from "node:child_process";
import { chmod, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { writeWhole } from "../../runner/whole-file.ts";
import { orUnwritable } from "./rigs.ts";

/**
 * Makes an ed25519 key for one rig, without a passphrase, at `file` (its public half beside it, ".pub"), for its owner's eyes alone.
 * Returns the public half, a line. Fails with `cloud-key`.
 */
export async function makeKey(file: string, id: string): Promise<string> {
	try {
		await promisify(execFile)("ssh-keygen", [
			"-q",
			"-t",
			"ed25519",
			"-N",
			"",
			"-C",
			`mqbench-${id}`,
			"-f",
			file,
		]);
		await chmod(file, 0o600);
		await chmod(`${file}.pub`, 0o600);
		return (await readFile(`${file}.pub`, "utf8")).trim();
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw failure("cloud-key", {
			reason:
				code === "ENOENT" ? "there is no ssh-keygen on PATH" : lastLine(error) || reasonOf(error),
		});
	}
}

/**
 * Makes the host key of a rig's machines, which they get before their sshd starts, and the file by which ssh knows it: all of them have the
 * same key, and their addresses are not known yet. So nobody's key is taken on trust at the first contact. Fails as `makeKey` does.
 */
export async function makeHostKey(file: string, knownHosts: string, id: string): Promise<void> {
	const line = await makeKey(file, id);
	await orUnwritable(knownHosts, () => writeWhole(knownHosts, `* ${line}\n`, 0o600));
}

// --- internal ---

function lastLine(error: unknown): string {
	const { stderr } = error as { stderr?: string };
	return stderr?.trim().split("\n").at(-1)?.replace(/\.$/, "") ?? "";
}
