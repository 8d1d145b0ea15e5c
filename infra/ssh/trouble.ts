import { sshPlaceText } from "../../runner/model/ssh-host.ts";
import { commandLine } from "../../runner/shell.ts";
import { lastLine, Unreachable } from "../machines/trouble.ts";
import { byHand, type SshHost } from "./host.ts";

/** Why ssh did not reach a host, from its own words. */
export function unreachable(host: SshHost, words: string): Unreachable {
	const known = [...(host.hostKeyKnown ? [OTHER_KEY] : []), ...TROUBLES].find(({ says }) =>
		says.test(words),
	);
	const said = lastLine(words);
	const reason = known?.reason ?? `ssh cannot reach it (${said || "it says nothing"})`;
	const remedy = (known?.remedy ?? tryByHand)(host);
	const passes = known?.passes ?? false;
	return new Unreachable({ ...host, name: sshPlaceText(host) }, { reason, remedy, passes });
}

// --- internal ---

const tryByHand = (host: SshHost) =>
	`mqbench can connect once this works without a question: ${byHand(host)} true`;

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
	/** A booting host prints it for a while. */
	readonly passes?: true;
}

/** For hosts that got their key from mqbench: do not suggest accepting another one by hand. */
const OTHER_KEY: Trouble = {
	says: /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed|No \S+ host key is known/,
	reason:
		"its host key is not the one that mqbench gave it, so another machine answers there, its image does not take the key (no cloud-init), or the file of the key was changed",
	remedy: () =>
		"Nothing was sent to it. Take the rig down and stand it up again; for an image of your own (aws.ami) use one with cloud-init",
};

const TROUBLES: readonly Trouble[] = [
	{
		says: /Session open refused/,
		reason: "its sshd allows too few sessions on one connection",
		remedy: () => "Raise MaxSessions in its sshd_config to 10, sshd's default",
	},
	{
		says: /the connection is gone/,
		reason: "the connection to it was lost",
		remedy: (host) => `Is it up, and the network in between? By hand: ${byHand(host)} true`,
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
		// From pam_nologin until the system is up, and from sshd while it starts.
		says: /System is booting up|kex_exchange_identification|Connection (closed|reset) by/,
		reason: "its sshd ends the connection before the login",
		remedy: (host) => `Does it boot, or refuse this machine? By hand: ${byHand(host)} true`,
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
		remedy: (host) => `Is sshd up, and its port right? By hand: ${byHand(host)} true`,
		passes: true,
	},
	{
		says: /timed out|No route to host|Network is unreachable|Host is down/i,
		reason: "ssh gets no answer from it",
		remedy: (host) =>
			`Is it up, and does a firewall let port ${host.port ?? 22} through? By hand: ${byHand(host)} true`,
		passes: true,
	},
];
