export interface Address {
	/** IPv6 without brackets. */
	readonly host: string;
	readonly port: number;
	/** Of a Unix socket, on this machine. */
	readonly path?: string;
}

/** Default port by URL scheme, the usual scheme first. */
export type Ports = Readonly<Record<string, number>>;

/** The nodes of a URL: hosts or whole URLs, separated by commas. A missing port is its scheme's default. */
export function addresses(url: string, ports: Ports): Address[] {
	const [usual = 0] = Object.values(ports);
	let port = usual;
	return url.split(/,(?=[a-z][a-z0-9+.-]*:\/\/)/i).flatMap((one) => {
		if (one.startsWith("unix://"))
			return [{ host: "localhost", port: 0, path: decodeURIComponent(new URL(one).pathname) }];
		const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(one);
		if (scheme) port = ports[scheme[1]?.toLowerCase() ?? ""] ?? usual;
		const authority = one.slice(scheme?.[0].length ?? 0).split(/[/?#]/)[0] ?? "";
		return authority
			.slice(authority.lastIndexOf("@") + 1)
			.split(",")
			.map((host) => address(host.trim(), port));
	});
}

export function hostPort(host: string, port: number): string {
	return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

// --- internal ---

function address(text: string, port: number): Address {
	const match = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(text);
	return { host: match?.[1] ?? match?.[2] ?? text, port: Number(match?.[3]) || port };
}
