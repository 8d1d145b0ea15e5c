/** A host as people name it to ssh: "bench@10.0.0.11:2222", "[fd00::11]". */
export interface SshPlace {
	readonly user: string | null;
	/** Without the brackets of IPv6. */
	readonly host: string;
	readonly port: number | null;
}

/** Brackets keep an address of IPv6 apart from a port. */
export const SSH_PLACE =
	/^(?:((?!-)[\w.-]+)@)?(?:((?!-)[\w.-]+)|\[([\da-fA-F:.]+)\])(?::(\d{1,5}))?$/;

export function sshPlace(text: string): SshPlace {
	const [, user = null, name, ipv6, port] = SSH_PLACE.exec(text) ?? [];
	return { user, host: name ?? ipv6 ?? text, port: port === undefined ? null : Number(port) };
}

export function sshPlaceText({ user, host, port }: SshPlace): string {
	const safe = host.includes(":") ? `[${host}]` : host;
	return `${user === null ? "" : `${user}@`}${safe}${port === null ? "" : `:${port}`}`;
}
