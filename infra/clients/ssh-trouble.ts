import { failure, MqbenchError } from "../../runner/errors.ts";
import { byHand, type SshHost, sshName } from "./ssh-host.ts";

/** A host that ssh cannot reach. */
export class Unreachable extends MqbenchError {
	/** For people, without host and remedy. */
	readonly reason: string;
	/** A booting host may cause it. */
	readonly passes: boolean;

	constructor(
		{ code, message, exit }: MqbenchError,
		reason: string,
		passes: boolean,
	) {
		super(code, message, exit);
		this.reason = reason;
		this.passes = passes;
	}
}

/** Why ssh did not reach a host, from its own words. */
export function unreachable(host: SshHost, words: string): Unreachable {
	const known = TROUBLES.find(({ says }) => says.test(words));
	const said = lastLine(words);
	const reason =
		known?.reason ?? `ssh cannot reach it (${said || "it says nothing"})`;
	const remedy = (known?.remedy ?? tryByHand)(host);
	const error =
		host.broker === undefined
			? failure("client-unreachable", { client: sshName(host), reason, remedy })
			: failure("host-unreachable", {
					host: sshName(host),
					system: host.broker,
					reason,
					remedy,
				});
	return new Unreachable(error, reason, known?.passes ?? false);
}

/** Why a reachable host cannot make load or run its broker. */
export function unfit(
	host: SshHost,
	reason: string,
	remedy: string,
): MqbenchError {
	return host.broker === undefined
		? failure("client-unfit", { client: sshName(host), reason, remedy })
		: failure("host-unfit", {
				host: sshName(host),
				system: host.broker,
				reason,
				remedy,
			});
}

/** The account does not accept commands, like that of a file server. */
export function noShell(host: SshHost, words: string): MqbenchError {
	const said = lastLine(words);
	return unfit(
		host,
		`no shell runs commands there${said === "" ? "" : ` (${said})`}`,
		"Name a user who has sh",
	);
}

/** The same for a command there that could not write something. */
export function unwritable(
	host: SshHost,
	folder: string,
	words: string,
	/** What is stored there. */
	kind: "programs" | "store" = "programs",
): MqbenchError {
	const full = /No space left on device/.test(words);
	const quota = /quota/i.test(words);
	return unfit(
		host,
		full
			? `the disk of ${folder} is full`
			: quota
				? `the disk quota for ${folder} is used up`
				: `${folder} cannot be written there (${lastLine(words) || "it says nothing"})`,
		full || quota
			? kind === "programs"
				? "Free 100 MB there"
				: "Free some space there: the broker stores its data in it"
			: "Give that user a home to write to, or name another user",
	);
}

/** The last line of a program's output. */
export function lastLine(words: string): string {
	return words.trim().split("\n").at(-1)?.trim() ?? "";
}

// --- internal ---

const tryByHand = (host: SshHost) =>
	`mqbench can connect once this works without a question: ${byHand(host)} true`;

/** The command that removes a host's key from the file in use. */
function forget({ host, port, knownHosts }: SshHost): string {
	const file = knownHosts === null ? "" : `-f '${knownHosts}' `;
	return `ssh-keygen ${file}-R ${port === null || port === 22 ? host : `'[${host}]:${port}'`}`;
}

const TROUBLES: readonly {
	readonly says: RegExp;
	readonly reason: string;
	remedy(host: SshHost): string;
	/** A booting host says so for a while. */
	readonly passes?: true;
}[] = [
	{
		says: /Session open refused/,
		reason: "its sshd allows too few sessions on one connection",
		remedy: () => "Raise MaxSessions in its sshd_config to 10, sshd's default",
	},
	{
		says: /the connection is gone/,
		reason: "the connection to it was lost",
		remedy: (host) =>
			`Is it up, and the network in between? By hand: ${byHand(host)} true`,
	},
	{
		says: /executable file not found|cannot start ssh/,
		reason: "ssh is not on PATH",
		remedy: () => "Install it (package openssh-client of your distribution)",
	},
	{
		says: /REMOTE HOST IDENTIFICATION HAS CHANGED/,
		reason: "its host key differs from the one that ssh knows",
		remedy: (host) =>
			`If the host was reinstalled, remove the old key (${forget(host)}) and ${host.knownHosts === null ? `connect once by hand: ${byHand(host)}` : "try again"}`,
	},
	{
		says: /Host key verification failed|No \S+ host key is known/,
		reason: "ssh asks about the host key",
		remedy: (host) => `Connect once by hand: ${byHand(host)}`,
	},
	{
		// pam_nologin says this until the system is up, and sshd while it starts.
		says: /System is booting up|kex_exchange_identification|Connection (closed|reset) by/,
		reason: "its sshd ends the connection before the login",
		remedy: (host) =>
			`Does it boot, or refuse this machine? By hand: ${byHand(host)} true`,
		passes: true,
	},
	{
		says: /Permission denied|Too many authentication failures/,
		reason: "the login was refused (permission denied)",
		remedy: (host) =>
			`mqbench uses no passwords: put a key into ssh's agent or configuration. By hand: ${byHand(host)} true`,
	},
	{
		says: /Could not resolve hostname/,
		reason: "ssh finds no host of that name",
		remedy: ({ broker }) =>
			`Correct ${broker === undefined ? "clients" : "brokers[].hosts of the rig's file"}, or the name in ssh's configuration`,
	},
	{
		says: /Connection refused/,
		reason: "nothing accepts SSH connections there (connection refused)",
		remedy: (host) =>
			`Is sshd up, and its port right? By hand: ${byHand(host)} true`,
		passes: true,
	},
	{
		says: /timed out|No route to host|Network is unreachable|Host is down/i,
		reason: "ssh gets no answer from it",
		remedy: (host) =>
			`Is it up, and does a firewall let port ${host.port ?? 22} through? By hand: ${byHand(host)} true`,
		passes: true,
	},
	{
		says: /too long for Unix domain socket/,
		reason: "the temporary folder's path is too long for ssh's socket",
		remedy: () => "Set TMPDIR to a shorter one",
	},
];
