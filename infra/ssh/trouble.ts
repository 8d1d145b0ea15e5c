import { commandLine } from "../../runner/shell.ts";
import { tell } from "../../runner/text/tell.ts";
import { lastLine, Unreachable } from "../remote/trouble.ts";
import { byHand, type SshHost, sshName } from "./host.ts";

/** Why ssh did not reach a host, from its own words. */
export function unreachable(host: SshHost, words: string): Unreachable {
	const known = [...(host.hostKeyKnown ? KEY_TROUBLES : []), ...TROUBLES].find(({ says }) =>
		says.test(words),
	);
	const said = lastLine(words);
	const reason = known?.reason ?? `ssh cannot reach it (${said || "it says nothing"})`;
	const remedy = (known?.remedy ?? tryByHand)(host);
	return new Unreachable(
		{ name: sshName(host), ...(host.broker === undefined ? {} : { broker: host.broker }) },
		{ reason, remedy, passes: known?.passes ?? false },
	);
}

// --- internal ---

const tryByHand = (host: SshHost) => tell("without-question", { command: byHand(host) });

/** The command that removes a host's key from the file in use. */
function forget({ host, port, knownHosts }: SshHost): string {
	return commandLine([
		"ssh-keygen",
		...(knownHosts === null ? [] : ["-f", knownHosts]),
		"-R",
		port === null || port === 22 ? host : `[${host}]:${port}`,
	]);
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
		remedy: ({ knownHosts }) => tell("host-key-gone-remedy", { file: knownHosts ?? "knownHosts" }),
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
				next: host.knownHosts === null ? `connect once by hand: ${byHand(host)}` : "try again",
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
			tell("correct-host", { where: broker === undefined ? "clients" : tell("where-hosts") }),
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
		remedy: (host) => tell("is-port-open", { port: host.port ?? 22, command: byHand(host) }),
		passes: true,
	},
	{
		says: /too long for Unix domain socket/,
		reason: tell("temporary-path-long"),
		remedy: () => tell("shorter-tmpdir"),
	},
];
