import { sshPlace } from "../../runner/model/ssh-host.ts";
import { commandLine } from "../../runner/shell.ts";

/** A host that makes load or runs a broker, as ssh reaches it; null for ssh's own default. */
export interface SshHost {
	readonly host: string;
	readonly user: string | null;
	readonly port: number | null;
	/** File of a private key. */
	readonly identity: string | null;
	/** File of the hosts' keys. */
	readonly knownHosts: string | null;
	/** They were in that file before the first connection; otherwise the key of a host that is not in it is accepted at the first contact. */
	readonly hostKeyKnown: boolean;
	/** The host is used only after mqbench's set-up script reports that it is ready. */
	readonly setUp: boolean;
	/** How long it may take until it accepts ssh, if that is longer than usual. */
	readonly bootMinutes?: number | undefined;
	/** System whose broker runs there, for messages. Default: the host makes load. */
	readonly broker?: string;
}

/** "bench@10.0.0.11:2222" from a scenario, which has checked the form. */
export function sshHost(text: string): SshHost {
	return { ...sshPlace(text), identity: null, knownHosts: null, hostKeyKnown: false, setUp: false };
}

/** Arguments with which ssh reaches it, to put before all others but ssh's options. */
export function destination({
	host,
	user,
	port,
	identity,
	knownHosts,
	hostKeyKnown,
}: SshHost): string[] {
	return [
		...(user === null ? [] : ["-l", user]),
		...(port === null ? [] : ["-p", String(port)]),
		...(identity === null ? [] : ["-i", identity, "-o", "IdentitiesOnly=yes"]),
		...(knownHosts === null
			? []
			: [
					"-o",
					`UserKnownHostsFile=${quoted(knownHosts)}`,
					...(hostKeyKnown ? ONLY_KNOWN : ["-o", "StrictHostKeyChecking=accept-new"]),
				]),
		"--",
		host,
	];
}

/** The command that does the same by hand. */
export function byHand({ host, user, port, identity, knownHosts }: SshHost): string {
	return commandLine([
		"ssh",
		...(port === null ? [] : ["-p", String(port)]),
		...(identity === null ? [] : ["-i", identity]),
		...(knownHosts === null ? [] : ["-o", `UserKnownHostsFile=${quoted(knownHosts)}`]),
		user === null ? host : `${user}@${host}`,
	]);
}

// --- internal ---

/** Only the file decides, and nothing changes it. */
const ONLY_KNOWN = [
	"-o",
	"StrictHostKeyChecking=yes",
	"-o",
	"GlobalKnownHostsFile=/dev/null",
	"-o",
	"UpdateHostKeys=no",
];

/** A path as a value of ssh's configuration, where blanks separate words and % starts a token. */
function quoted(file: string): string {
	const plain = file.replaceAll("%", "%%");
	return /\s/.test(plain) ? `"${plain}"` : plain;
}
