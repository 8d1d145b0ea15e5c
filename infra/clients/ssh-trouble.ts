import { failure, MqbenchError } from "../../runner/errors.ts";
import { tell } from "../../runner/text/tell.ts";
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
	const known = [...(host.hostKeyKnown ? KEY_TROUBLES : []), ...TROUBLES].find(
		({ says }) => says.test(words),
	);
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
		tell("no-shell", { words: said === "" ? "" : ` (${said})` }),
		tell("name-sh-user"),
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
				: tell("free-space-there")
			: tell("home-to-write"),
	);
}

/** The last line of a program's output. */
export function lastLine(words: string): string {
	return words.trim().split("\n").at(-1)?.trim() ?? "";
}

// --- internal ---

const tryByHand = (host: SshHost) =>
	tell("without-question", { command: byHand(host) });

/** The command that removes a host's key from the file in use. */
function forget({ host, port, knownHosts }: SshHost): string {
	const file = knownHosts === null ? "" : `-f '${knownHosts}' `;
	return `ssh-keygen ${file}-R ${port === null || port === 22 ? host : `'[${host}]:${port}'`}`;
}

interface Trouble {
	readonly says: RegExp;
	readonly reason: string;
	remedy(host: SshHost): string;
	/** A booting host says so for a while. */
	readonly passes?: true;
}

/** Of hosts that got their key from mqbench: nobody is to accept another one by hand. */
const KEY_TROUBLES: readonly Trouble[] = [
	{
		says: /REMOTE HOST IDENTIFICATION HAS CHANGED/,
		reason: tell("host-key-not-ours"),
		remedy: () => tell("host-key-not-ours-remedy"),
	},
	{
		says: /Host key verification failed|No \S+ host key is known/,
		reason: tell("host-key-gone"),
		remedy: ({ knownHosts }) =>
			tell("host-key-gone-remedy", { file: knownHosts ?? "knownHosts" }),
	},
];

const TROUBLES: readonly Trouble[] = [
	{
		says: /Session open refused/,
		reason: tell("too-few-sessions"),
		remedy: () => tell("raise-max-sessions"),
	},
	{
		says: /the connection is gone/,
		reason: tell("connection-lost", { words: "" }),
		remedy: (host) => tell("is-it-up", { command: byHand(host) }),
	},
	{
		says: /executable file not found|cannot start ssh/,
		reason: tell("ssh-missing"),
		remedy: () => "Install it (package openssh-client of your distribution)",
	},
	{
		says: /REMOTE HOST IDENTIFICATION HAS CHANGED/,
		reason: tell("host-key-differs"),
		remedy: (host) =>
			tell("host-key-remedy", {
				forget: forget(host),
				next:
					host.knownHosts === null
						? `connect once by hand: ${byHand(host)}`
						: "try again",
			}),
	},
	{
		says: /Host key verification failed|No \S+ host key is known/,
		reason: tell("host-key-asked"),
		remedy: (host) => `Connect once by hand: ${byHand(host)}`,
	},
	{
		// pam_nologin says this until the system is up, and sshd while it starts.
		says: /System is booting up|kex_exchange_identification|Connection (closed|reset) by/,
		reason: tell("login-refused"),
		remedy: (host) => tell("does-it-boot", { command: byHand(host) }),
		passes: true,
	},
	{
		says: /Permission denied|Too many authentication failures/,
		reason: "the login was refused (permission denied)",
		remedy: (host) => tell("no-passwords", { command: byHand(host) }),
	},
	{
		says: /Could not resolve hostname/,
		reason: tell("host-unknown"),
		remedy: ({ broker }) =>
			tell("correct-host", {
				where: broker === undefined ? "clients" : tell("where-hosts"),
			}),
	},
	{
		says: /Connection refused/,
		reason: tell("connection-refused"),
		remedy: (host) => tell("is-sshd-up", { command: byHand(host) }),
		passes: true,
	},
	{
		says: /timed out|No route to host|Network is unreachable|Host is down/i,
		reason: tell("no-answer"),
		remedy: (host) =>
			tell("is-port-open", { port: host.port ?? 22, command: byHand(host) }),
		passes: true,
	},
	{
		says: /too long for Unix domain socket/,
		reason: tell("temporary-path-long"),
		remedy: () => tell("shorter-tmpdir"),
	},
];
