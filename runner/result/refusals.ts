import { brokerOf, loginUrl } from "../brokers/index.ts";
import type { Run } from "../model/result.ts";

/** null if the error is not known. The errors come from real servers: see refusals.test.ts. */
export function refusalAdvice(error: string, run: Run): string | null {
	for (const [pattern, advice] of REFUSALS) {
		const match = pattern.exec(error);
		if (match === null) continue;
		const facts: Readonly<Record<string, string | undefined>> = { ...factsOf(run), at: match[1] };
		return advice.replaceAll(/<(\w+)>/g, (_, name: string) => facts[name] ?? "");
	}
	return null;
}

export const GRANT_RIGHTS =
	"give this user the right to create, write and read topics whose names begin with mqbench, or name topics that it may use (topics: [...], create: false)";

// --- internal ---

function factsOf({ brokerUrl, load }: Run) {
	const { title, urls } = brokerOf(load);
	const [plain = ""] = Object.keys(urls);
	const given = brokerUrl ?? "";
	const server = given.replace(/^\w+:\/\/(?:\S*@)?|\/.*$/g, "");
	const { url, variable } = loginUrl(brokerOf(load), brokerUrl ?? undefined);
	return {
		server,
		broker: title,
		plain,
		login: given.includes("@")
			? `check user and password: ${server} refused them`
			: `write ${variable}=... before the command and --url '${url}' behind it, with the single quotes`,
		tls: given.startsWith(`${plain}://`) ? "write tls: true in" : "remove TLS from",
	};
}

/** The first match counts: servers' words stand before a library's about a connection that merely ended. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
	[
		/too many open files/,
		"allow more open files before mqbench starts (ulimit -n 65536), or use fewer connections",
	],
	[
		/UNSUPPORTED_SASL_MECHANISM/,
		"write a mechanism that the broker offers in the system: sasl: plain, scram-sha-256 or scram-sha-512",
	],
	[
		/ILLEGAL_SASL_STATE/,
		"remove user and password from the url, or use the port of a listener with a login: <server> accepts none",
	],
	[
		/connection limit|max number of clients|maximum connections exceeded|connection \d+ of \d+: |consume .*connect: /,
		"raise the limit of connections at <server>, or lower workload.connections (consumers may have their own)",
	],
	[
		/NOPERM|_AUTHORIZATION_FAILED|ACCESS_REFUSED|access to vhost|Permissions Violation|message.* not authorized|unauthorized-access/,
		GRANT_RIGHTS,
	],
	[
		/NOAUTH|WRONGPASS|Authorization Violation|user ?name or password|not authorized|SASL|authentication/i,
		"<login>",
	],
	[
		/failed to verify certificate/,
		"write tls: { ca: ca.pem } in the system, with the certificate of the authority that signed the broker's",
	],
	[
		/does not look like a TLS handshake|secure connection not available|immediately after a dial/,
		"write a url that begins with <plain>://, and no tls in the system: <server> does not speak TLS",
	],
	[/tls alert record|requires TLS/, "write tls: true in the system: <server> speaks TLS"],
	[
		/unable to dial: dial tcp (\S+): /,
		"correct advertised.listeners of the broker, or raise its max.connections: it sends clients to <at>, and nothing answers there",
	],
	[
		/can't parse|invalid large response|frame size exceeds|unexpected protocol|invalid Prop type|malformed HTTP|INFO not received|api error UnknownError/,
		"correct the port of the url: what answers at <server> is not <broker>",
	],
	[
		/connect: .*(?:EOF|broken pipe|connection reset|timeout|deadline exceeded|ends the connection)/,
		"correct the port of the url, or <tls> the system: what listens at <server> does not answer like <broker>",
	],
];
