/** Where a broker's node listens. */
export interface Address {
	/** Without the brackets of IPv6. */
	readonly host: string;
	readonly port: number;
}

/** Ports of URLs of a system that name none. */
export interface Ports {
	readonly defaultPort: number;
	/** Of schemes that go to another one. Left out: all go there. */
	readonly otherPorts?: Readonly<Record<string, number>>;
}

/**
 * The nodes that a URL names: several hosts, or several URLs, are separated by commas. A port that is left out is the scheme's
 * own, else the usual one.
 */
export function addresses(url: string, { defaultPort, otherPorts = {} }: Ports): Address[] {
	let port = defaultPort;
	return url.split(/,(?=[a-z][a-z0-9+.-]*:\/\/)/i).flatMap((one) => {
		const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(one);
		if (scheme) port = otherPorts[scheme[1]?.toLowerCase() ?? ""] ?? defaultPort;
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
