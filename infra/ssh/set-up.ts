import { failure } from "../../runner/errors.ts";
import { pause } from "../../runner/stop.ts";
import type { Connecting } from "../remote/host.ts";
import type { Link } from "../remote/link.ts";
import { Unreachable } from "../remote/trouble.ts";
import { byHand, type SshHost, sshName } from "./host.ts";
import { openLink } from "./link.ts";

export interface SetUpOptions extends Connecting {
	/** How long a host may take to accept ssh, and then to finish its set-up, and how often to check; for tests. */
	readonly bootMs?: number;
	readonly setUpMs?: number;
	readonly pollMs?: number;
}

/**
 * Connects to a host, and returns when mqbench's set-up script there reports that it is ready, if there is one; `stop` cancels. A machine that
 * was just rented needs time before it accepts anybody. Fails with `host-set-up`, or as `openLink` does.
 */
export async function openSetUp(
	host: SshHost,
	options: SetUpOptions,
	stop: AbortSignal,
): Promise<Link> {
	const { agent, world } = options;
	const connect = () => openLink(host, { agent, ...world }, stop);
	if (!host.setUp) return connect();
	// A rig of an earlier mqbench, or one that somebody has stood up by hand.
	if (host.knownHosts !== null && !host.hostKeyKnown)
		options.say(
			`  ${sshName(host)}: its host key is taken as it is at the first contact: mqbench did not give it one`,
		);
	let link: Link | null = null;
	try {
		link = await untilLetIn(connect, host, options, stop);
		if (!(await untilReady(link, host, options, stop))) return link;
	} catch (error) {
		await link?.close();
		if (!stop.aborted) await world.notUp?.(host.host);
		throw error;
	}
	// The set-up raises the limit of open files; this login came before that.
	await link.close();
	return connect();
}

// --- internal ---

const BOOT_MS = 3 * 60_000;
const bootMsOf = ({ bootMinutes }: SshHost) =>
	bootMinutes === undefined ? BOOT_MS : bootMinutes * 60_000;
const SET_UP_MS = 15 * 60_000;
/** How often to check, and how often to report. */
const POLL_MS = 1_000;
const SAY_MS = 10_000;

const LOG = "/var/lib/mqbench/set-up.log";

const STATE = 'echo; s=$(head -n 1 /var/lib/mqbench/state 2>/dev/null) && echo "mqbench:state=$s"';

async function untilLetIn(
	connect: () => Promise<Link>,
	host: SshHost,
	{ world: { clock }, say, bootMs = bootMsOf(host), pollMs = POLL_MS }: SetUpOptions,
	stop: AbortSignal,
): Promise<Link> {
	const began = clock.monotonicMs();
	let said = began;
	for (;;)
		try {
			return await connect();
		} catch (error) {
			const now = clock.monotonicMs();
			// A booting host refuses; a wrong key or a missing user stays wrong.
			const boots = error instanceof Unreachable && error.passes;
			if (!boots || now - began > bootMs) throw error;
			if (now - said >= SAY_MS) {
				said = now;
				say(`  ${sshName(host)}: not up yet: ${error.reason} (${seconds(now - began)})`);
			}
			await pause(pollMs, stop);
		}
}

/** True: it had to wait. */
async function untilReady(
	link: Link,
	host: SshHost,
	{ world: { clock }, say, setUpMs = SET_UP_MS, pollMs = POLL_MS }: SetUpOptions,
	stop: AbortSignal,
): Promise<boolean> {
	const began = clock.monotonicMs();
	let waited = false;
	let said = began;
	const wrong = (reason: string, remedy: string) =>
		failure("host-set-up", { host: sshName(host), reason, remedy });
	const look = `Its log is ${LOG} there (${byHand(host)})`;
	for (;;) {
		const { values } = await link.run(STATE);
		const state = values.state ?? "";
		if (state === "ready") return waited;
		const [, step, words] = /^failed: ([^:]*)(?:: *(.*))?$/.exec(state) ?? [];
		if (step !== undefined)
			throw wrong(
				`the step ${step} failed${words ? ` (${words.replace(/[.\s]+$/, "")})` : ""}`,
				look,
			);
		const doing = /^running: (.*)$/.exec(state)?.[1] ?? null;
		const now = clock.monotonicMs();
		if (now - began > setUpMs)
			throw wrong(
				doing === null
					? `no set-up script started there within ${seconds(setUpMs)}`
					: `it is still in the step ${doing} after ${seconds(setUpMs)}`,
				doing === null
					? "Was it made by mqbench up? For a host of your own write setUp: false in the rig's file"
					: look,
			);
		if (now - said >= SAY_MS) {
			said = now;
			say(
				`  ${sshName(host)}: being set up: ${doing ?? "not begun yet"} (${seconds(now - began)})`,
			);
		}
		waited = true;
		await pause(pollMs, stop);
	}
}

function seconds(ms: number): string {
	return `${Math.round(ms / 1000)} s`;
}
