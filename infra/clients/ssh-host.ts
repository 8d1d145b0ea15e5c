/** A host that makes the load, or runs a broker, as ssh reaches it; null: ssh's own choice. */
export interface SshHost {
	readonly host: string;
	readonly user: string | null;
	readonly port: number | null;
	/** File of a private key. */
	readonly identity: string | null;
	/** File that keeps the hosts' own keys; one that is not in it is taken at the first contact. */
	readonly knownHosts: string | null;
	/** Nothing is done on it before mqbench's set-up script says ready. */
	readonly setUp: boolean;
	/** System whose broker runs there: for sentences about it. Default: it makes the load. */
	readonly broker?: string;
}

/** "bench@10.0.0.11:2222" as a scenario writes it, which has checked its form. */
export function sshHost(text: string): SshHost {
	const [, user, host, port] = /^(?:(.+)@)?(.+?)(?::(\d+))?$/.exec(text) ?? [];
	return {
		host: host ?? text,
		user: user ?? null,
		port: port === undefined ? null : Number(port),
		identity: null,
		knownHosts: null,
		setUp: false,
	};
}

/** For people, and as a scenario writes it. */
export function sshName({ host, user, port }: SshHost): string {
	return `${user === null ? "" : `${user}@`}${host}${port === null ? "" : `:${port}`}`;
}

/** What ssh is told to reach it, in front of everything else but its options. */
export function destination({
	host,
	user,
	port,
	identity,
	knownHosts,
}: SshHost): string[] {
	return [
		...(user === null ? [] : ["-l", user]),
		...(port === null ? [] : ["-p", String(port)]),
		...(identity === null ? [] : ["-i", identity, "-o", "IdentitiesOnly=yes"]),
		...(knownHosts === null
			? []
			: [
					...["-o", `UserKnownHostsFile=${quoted(knownHosts)}`],
					...["-o", "StrictHostKeyChecking=accept-new"],
				]),
		"--",
		host,
	];
}

/** The command that does the same by hand. */
export function byHand({
	host,
	user,
	port,
	identity,
	knownHosts,
}: SshHost): string {
	return [
		"ssh",
		...(port === null ? [] : ["-p", String(port)]),
		...(identity === null ? [] : ["-i", identity]),
		...(knownHosts === null
			? []
			: ["-o", `UserKnownHostsFile=${quoted(knownHosts)}`]),
		user === null ? host : `${user}@${host}`,
	]
		.map((word) => (/[\s"'$\\`]/.test(word) ? `'${word}'` : word))
		.join(" ");
}

// --- internal ---

/** A path as a value of ssh's configuration: blanks part words there, and % begins a token. */
function quoted(file: string): string {
	const plain = file.replaceAll("%", "%%");
	return /\s/.test(plain) ? `"${plain}"` : plain;
}
