import { brokerOf, loginUrl } from "../brokers/index.ts";
import type { Run } from "../model/result.ts";
import { type Said, say } from "../text/say.ts";

/**
 * What to do about an error with which a broker, or the client library, refuses what a run needs at its opening; null: it is none of those that
 * are known. The errors were collected from real servers: refusals.test.ts has them.
 */
export function refusalAdvice(error: string, run: Run): Said | null {
	const url = run.brokerUrl ?? "";
	const server = url.replace(/^\w+:\/\/(?:\S*@)?|\/.*$/g, "");
	for (const [pattern, advice] of REFUSALS) {
		const match = pattern.exec(error);
		if (match) return advice({ run, server, login: url.includes("@") }, match);
	}
	return null;
}

// --- internal ---

interface About {
	readonly run: Run;
	/** "10.0.0.5:6379". */
	readonly server: string;
	/** The url has a user or a password. */
	readonly login: boolean;
}

type Advice = (about: About, match: RegExpExecArray) => Said;

const logIn: Advice = ({ run }) =>
	say("log-in", loginUrl(brokerOf(run.load), run.brokerUrl ?? undefined));
const checkLogin: Advice = ({ server }) => say("login-refused", { server });
const fewerConnections: Advice = ({ server, run }) =>
	say("fewer-connections", { server, connections: run.load.connections });

/** The first that fits is told: words of a server stand before those of a library about a connection that merely ended. */
const REFUSALS: readonly (readonly [RegExp, Advice])[] = [
	[/too many open files/, () => say("more-files")],
	[
		/INVALID_REPLICATION_FACTOR|replicas > 1 not supported|no suitable peers/,
		({ run }) => say("fewer-replicas", { replicas: run.load.replicas ?? 1 }),
	],
	[/UNSUPPORTED_SASL_MECHANISM/, () => say("other-mechanism")],
	[/ILLEGAL_SASL_STATE/, ({ server }) => say("no-login-there", { server })],
	[
		/connection limit|max number of clients|maximum connections exceeded|connection \d+ of \d+: |consume .*connect: /,
		fewerConnections,
	],
	[/vhost (\S+) not found/, (_, [, vhost = ""]) => say("make-vhost", { vhost })],
	[
		/NOPERM|_AUTHORIZATION_FAILED|ACCESS_REFUSED|access to vhost|Permissions Violation|message.* not authorized|unauthorized-access/,
		() => say("grant-rights"),
	],
	[/NOAUTH/, logIn],
	[/WRONGPASS/, checkLogin],
	[
		/Authorization Violation|user ?name or password|not authorized|SASL|authentication/i,
		(about, match) => (about.login ? checkLogin : logIn)(about, match),
	],
	[/DB index is out of range/, () => say("other-database")],
	[/failed to verify certificate/, () => say("trust-certificate")],
	[
		/does not look like a TLS handshake|secure connection not available|immediately after a dial/,
		({ server, run }) =>
			say("no-tls-there", { server, scheme: brokerOf(run.load).urlSchemes[0] ?? "" }),
	],
	[/tls alert record|requires TLS/, ({ server }) => say("tls-there", { server })],
	[
		/unable to dial: dial tcp (\S+): /,
		(_, [, address = ""]) => say("advertised-address", { address }),
	],
	[
		/can't parse|invalid large response|frame size exceeds|unexpected protocol|invalid Prop type|malformed HTTP|INFO not received|api error UnknownError/,
		({ server, run }) => say("other-protocol", { server, title: brokerOf(run.load).title }),
	],
	[
		/connect: .*(?:EOF|broken pipe|connection reset|timeout|deadline exceeded|ends the connection)/,
		({ server, run }) => {
			const { title, urlSchemes } = brokerOf(run.load);
			const [plain = ""] = urlSchemes;
			return say("hung-up", { server, title, tls: !run.brokerUrl?.startsWith(`${plain}://`) });
		},
	],
];
