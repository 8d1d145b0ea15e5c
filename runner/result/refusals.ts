import { brokerOf, loginUrl } from "../brokers/index.ts";
import type { Run } from "../model/result.ts";

/** What to do if a server refuses rights, a login or a connection, in its own words. Null if the error is another one. */
export function refusalAdvice(error: string, { brokerUrl, load }: Run): string | null {
	if (RIGHTS.test(error)) return GRANT_RIGHTS;
	const given = brokerUrl ?? "";
	const server = given.replace(/^\w+:\/\/(?:\S*@)?|\/.*$/g, "");
	if (LOGIN.test(error)) {
		const { url, variable } = loginUrl(brokerOf(load), brokerUrl ?? undefined);
		return given.includes("@")
			? `check user and password: ${server} refused them`
			: `write ${variable}=... before the command and --url '${url}' behind it, with the single quotes`;
	}
	return CONNECTION.test(error)
		? `check the system's url (scheme, host, port, login) and its tls, and how many connections ${server} allows`
		: null;
}

export const GRANT_RIGHTS =
	"give this user the right to create, write and read topics whose names begin with mqbench, or name topics that it may use (topics: [...], create: false)";

// --- internal ---

const RIGHTS =
	/NOPERM|_AUTHORIZATION_FAILED|ACCESS_REFUSED|access to vhost|Permissions Violation|message.* not authorized|unauthorized-access/;
/** A mechanism that the server does not have is no matter of the password. */
const LOGIN =
	/NOAUTH|WRONGPASS|Authorization Violation|user ?name or password|not authorized|SASL (?:is|auth|PLAIN)|authentication/i;
const CONNECTION = /connect: (?!.*too many open files)|unable to dial|SASL|api error UnknownError/;
