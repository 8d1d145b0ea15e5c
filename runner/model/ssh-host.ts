/** "bench@10.0.0.11:2222", "[fd00::11]" */
interface SshPlace {
	readonly user: string | null;
	readonly host: string;
	readonly port: number | null;
}

/** Brackets separate an IPv6 address from a port. */
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
