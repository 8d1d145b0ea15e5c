import { brokerOf, loginUrl } from "../brokers/index.ts";
import type { Run } from "../model/result.ts";

/**
 * What to do about an error with which a broker, or the client library, refuses what a run needs at its opening; null: it is none of those that
 * are known. The errors were collected from real servers: refusals.test.ts has them.
 */
export function refusalAdvice(error: string, run: Run): string | null {
	const url = run.brokerUrl ?? "";
	const server = url.replace(/^\w+:\/\/(?:\S*@)?|\/.*$/g, "");
	for (const [pattern, advice] of REFUSALS) {
		const match = pattern.exec(error);
		if (match && typeof advice === "string") return advice;
		if (match && typeof advice === "function")
			return advice({ run, server, login: url.includes("@") }, match[1] ?? "");
	}
	return null;
}

export const GRANT_RIGHTS =
	"give this user the right to create, write and read topics whose names begin with mqbench, or name topics that it may use (topics: [...], create: false)";

// --- internal ---

interface About {
	readonly run: Run;
	/** "10.0.0.5:6379". */
	readonly server: string;
	/** The url has a user or a password. */
	readonly login: boolean;
}

type Advice = string | ((about: About, found: string) => string);

function logIn({ run }: About): string {
	const { url, variable } = loginUrl(brokerOf(run.load), run.brokerUrl ?? undefined);
	return `write ${variable}=... before the command and --url '${url}' behind it, with the single quotes`;
}

function checkLogin({ server }: About): string {
	return `check user and password: ${server} refused them`;
}

/** The first that fits is told: words of a server stand before those of a library about a connection that merely ended. */
const REFUSALS: readonly (readonly [RegExp, Advice])[] = [
	[
		/too many open files/,
		"allow more open files before mqbench starts (ulimit -n 65536; nofile in /etc/security/limits.conf sets its upper limit), or use fewer connections",
	],
	[
		/INVALID_REPLICATION_FACTOR|replicas > 1 not supported|no suitable peers/,
		({ run }) =>
			`write replicas: 1, because the broker has fewer nodes than ${run.load.replicas ?? 1} replicas need`,
	],
	[
		/UNSUPPORTED_SASL_MECHANISM/,
		"write a mechanism that the broker offers in the system: sasl: plain, scram-sha-256 or scram-sha-512",
	],
	[
		/ILLEGAL_SASL_STATE/,
		({ server }) =>
			`remove user and password from the url: ${server} accepts no login; or use the port of a listener that does`,
	],
	[
		/connection limit|max number of clients|maximum connections exceeded|connection \d+ of \d+: |consume .*connect: /,
		({ server, run: { load } }) =>
			`raise the limit of connections at ${server}${load.connections === 1 ? "" : `, or lower workload.connections (it is ${load.connections}; consumers may have their own)`}`,
	],
	[
		/vhost (\S+) not found/,
		(_, vhost) => `create the vhost ${vhost} at the broker, or correct the path of the url`,
	],
	[
		/NOPERM|_AUTHORIZATION_FAILED|ACCESS_REFUSED|access to vhost|Permissions Violation|message.* not authorized|unauthorized-access/,
		GRANT_RIGHTS,
	],
	[/NOAUTH/, logIn],
	[/WRONGPASS/, checkLogin],
	[
		/Authorization Violation|user ?name or password|not authorized|SASL|authentication/i,
		(about) => (about.login ? checkLogin : logIn)(about),
	],
	[
		/DB index is out of range/,
		"write a database that the server has, as the number at the end of the url",
	],
	[
		/failed to verify certificate/,
		"write tls: { ca: ca.pem } in the system, with the certificate of the authority that signed the broker's",
	],
	[
		/does not look like a TLS handshake|secure connection not available|immediately after a dial/,
		({ server, run }) =>
			`write a url that begins with ${brokerOf(run.load).urlSchemes[0]}://, and no tls in the system: ${server} does not speak TLS`,
	],
	[
		/tls alert record|requires TLS/,
		({ server }) => `write tls: true in the system: ${server} speaks TLS`,
	],
	[
		/unable to dial: dial tcp (\S+): /,
		(_, address) =>
			`correct advertised.listeners of the broker, or raise its max.connections: it sends clients to ${address}, and nothing answers there`,
	],
	[
		/can't parse|invalid large response|frame size exceeds|unexpected protocol|invalid Prop type|malformed HTTP|INFO not received|api error UnknownError/,
		({ server, run }) =>
			`correct the port of the url: what answers at ${server} is not ${brokerOf(run.load).title}`,
	],
	[
		/connect: .*(?:EOF|broken pipe|connection reset|timeout|deadline exceeded|ends the connection)/,
		({ server, run }) => {
			const { title, urlSchemes } = brokerOf(run.load);
			const [write, how] = run.brokerUrl?.startsWith(`${urlSchemes[0]}://`)
				? ["write tls: true in", "without"]
				: ["remove TLS from", "with"];
			return `correct the port of the url, or ${write} the system: what listens at ${server} does not answer like ${title} ${how} TLS`;
		},
	],
];
