import { failure, MqbenchError } from "../../runner/errors.ts";
import type { RemoteHost } from "./host.ts";

type Named = Pick<RemoteHost, "name" | "broker">;

/** A host that cannot be reached. */
export class Unreachable extends MqbenchError {
	/** For people, without host and remedy. */
	readonly reason: string;
	/** A booting host may cause it. */
	readonly passes: boolean;

	constructor(
		{ name, broker }: Named,
		{
			reason,
			remedy,
			passes = false,
		}: { readonly reason: string; readonly remedy: string; readonly passes?: boolean },
	) {
		const { code, message, exit } =
			broker === undefined
				? failure("client-unreachable", { client: name, reason, remedy })
				: failure("host-unreachable", { host: name, system: broker, reason, remedy });
		super(code, message, exit);
		this.reason = reason;
		this.passes = passes;
	}
}

/** Why a reachable host cannot make load or run its broker. */
export function unfit({ name, broker }: Named, reason: string, remedy: string): MqbenchError {
	return broker === undefined
		? failure("client-unfit", { client: name, reason, remedy })
		: failure("host-unfit", { host: name, system: broker, reason, remedy });
}

/** The account does not accept commands, like that of a file server. */
export function noShell(host: Named, words: string): MqbenchError {
	const said = lastLine(words);
	return unfit(
		host,
		`no shell runs commands there${said === "" ? "" : ` (${said})`}`,
		"Name a user who has sh",
	);
}

/** The same for a command there that could not write something. */
export function unwritable(
	host: Named,
	folder: string,
	words: string,
	/** The kind of files stored there. */
	kind: "programs" | "store" = "programs",
): MqbenchError {
	const full = /No space left on device|Wrote only/.test(words)
		? `the disk of ${folder} is full`
		: /quota/i.test(words)
			? `the disk quota for ${folder} is used up`
			: null;
	if (full === null)
		return unfit(
			host,
			`${folder} cannot be written there (${lastLine(words) || "it says nothing"})`,
			"Give that user a home to write to, or name another user",
		);
	const remedy =
		kind === "programs"
			? "Free 100 MB there"
			: "Free some space there: the broker stores its data in it";
	return unfit(host, full, remedy);
}

/** The last line of a program's output. */
export function lastLine(words: string): string {
	return words.trim().split("\n").at(-1)?.trim() ?? "";
}
