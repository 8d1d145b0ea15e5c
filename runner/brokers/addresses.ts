/** Where a broker's node listens. */
export interface Address {
	/** Without the brackets of IPv6. */
	readonly host: string;
	readonly port: number;
}

/** Schemes of a system's URLs, and the port where one names none; the usual scheme first. */
export type Ports = Readonly<Record<string, number>>;

/**
 * The nodes that a URL names: several hosts, or several URLs, are separated by commas. A port that is left out is the scheme's
 * own, else the usual one.
 */
export function addresses(url: string, ports: Ports): Address[] {
	const [usual = 0] = Object.values(ports);
	let port = usual;
	return url.split(/,(?=[a-z][a-z0-9+.-]*:\/\/)/i).flatMap((one) => {
		const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(one);
		if (scheme) port = ports[scheme[1]?.toLowerCase() ?? ""] ?? usual;
		const authority = one.slice(scheme?.[0].length ?? 0).split(/[/?#]/)[0] ?? "";
		return authority
			.slice(authority.lastIndexOf("@") + 1)
			.split(",")
			.map((host) => address(host.trim(), port));
	});
}

/** "10.0.0.5:4222", "[fd00::5]:4222". */
export function hostPort(host: string, port: number): string {
	return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

// --- internal ---

function address(text: string, port: number): Address {
	const match = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(text);
	return { host: match?.[1] ?? match?.[2] ?? text, port: Number(match?.[3]) || port };
}
