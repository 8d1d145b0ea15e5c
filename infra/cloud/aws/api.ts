import type { EC2 } from "@aws-sdk/client-ec2";
import type { Pricing } from "@aws-sdk/client-pricing";
import type { STS } from "@aws-sdk/client-sts";
import { failure } from "../../../runner/errors.ts";
import { orInterrupted } from "../../../runner/stop.ts";
import type { World } from "../../../runner/world.ts";
import { loadSdk } from "../sdk.ts";
import { awsFolder } from "./folder.ts";

/** The calls of AWS that mqbench needs. A call that fails throws a `Refused`. */
export interface Api {
	readonly region: string;
	readonly ec2: EC2;
	/** Asked in the partition's first region, where every account is at home, so that they answer even if the requested region is wrong. */
	readonly home: { readonly region: string; readonly ec2: EC2; readonly sts: STS };
	/** Of all regions. */
	readonly pricing: Pricing;
}

/** AWS, or the connection to it, has refused a call. */
export class Refused extends Error {
	/** As IAM calls it: "ec2:RunInstances". */
	readonly call: string;
	/** AWS's own code, such as "UnauthorizedOperation"; for the connection the SDK's or the system's: "CredentialsProviderError", "ENOTFOUND". */
	readonly code: string;
	constructor(call: string, code: string, words: string) {
		super(words);
		this.call = call;
		this.code = code;
	}
	/** AWS was not asked: the connection to it failed. */
	get unreached(): boolean {
		return /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|TimeoutError|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/.test(
			this.code,
		);
	}
	/** The caller lacks the permission. */
	get forbidden(): boolean {
		return /^(UnauthorizedOperation|AccessDenied(Exception)?|Client\.UnauthorizedOperation|NotAuthorized)$/.test(
			this.code,
		);
	}
}

/**
 * Loads the SDK and makes its clients; asks nothing yet. `MQBENCH_AWS_ENDPOINT` is the address of an emulator that replaces AWS. Fails with the
 * install line if the SDK is missing, and with `usage` if the address is not a URL.
 */
export async function openApi(
	{ region, profile }: { region: string; profile: string | null },
	world: Pick<World, "env" | "stop">,
): Promise<Api> {
	const [ec2, sts, pricing] = await Promise.all([
		loadSdk<typeof import("@aws-sdk/client-ec2")>("@aws-sdk/client-ec2", awsFolder),
		loadSdk<typeof import("@aws-sdk/client-sts")>("@aws-sdk/client-sts", awsFolder),
		loadSdk<typeof import("@aws-sdk/client-pricing")>("@aws-sdk/client-pricing", awsFolder),
	]);
	checkEndpoint(world.env);
	// The SDK would warn about Node's version; mqbench checks that itself.
	process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
	const home = homeOf(region);
	const options = (at: string) => ({
		region: at,
		...(profile === null ? {} : { profile }),
		...emulated(world.env),
		maxAttempts: 3,
		// Otherwise the search for credentials prints warnings to the terminal.
		logger: SILENT,
		requestHandler: {
			connectionTimeout: 5_000,
			requestTimeout: 30_000,
			// Otherwise it only prints to the terminal that it is waiting.
			throwOnRequestTimeout: true,
		},
	});
	const watch = <Client extends object>(client: Client, service: string) => {
		watched(client, service, world);
		return client;
	};
	return {
		region,
		ec2: watch(new ec2.EC2(options(region)), "ec2"),
		home: {
			region: home,
			ec2: watch(new ec2.EC2(options(home)), "ec2"),
			sts: watch(new sts.STS(options(home)), "sts"),
		},
		// Few regions serve the price list, each of them for all regions.
		pricing: watch(
			new pricing.Pricing(options(home === "us-east-1" ? "us-east-1" : priceRegion(home))),
			"pricing",
		),
	};
}

/** A warning if the environment names a proxy, because mqbench does not use it; null: no proxy. */
export function proxyText(env: World["env"]): string | null {
	const name = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].find((name) => env[name]);
	return name === undefined
		? null
		: `${name} is set, and mqbench does not use proxies: it needs a direct connection to AWS, and for SSH to the machines`;
}

/** All pages of a call that answers page by page. */
export async function allPages<Page extends { NextToken?: string | undefined }>(
	ask: (token: { NextToken?: string }) => Promise<Page>,
): Promise<Page[]> {
	const pages: Page[] = [];
	let token: string | undefined;
	do {
		const page = await ask(token === undefined ? {} : { NextToken: token });
		pages.push(page);
		token = page.NextToken || undefined;
	} while (token !== undefined);
	return pages;
}

// --- internal ---

const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

function checkEndpoint({ MQBENCH_AWS_ENDPOINT: endpoint }: World["env"]): void {
	if (!endpoint) return;
	if (URL.canParse(endpoint) && /^https?:/i.test(endpoint)) return;
	throw failure("usage", {
		message: `MQBENCH_AWS_ENDPOINT=${endpoint}: write the URL of an emulator of AWS, such as http://127.0.0.1:5000, or unset it`,
	});
}

function homeOf(region: string): string {
	if (region.startsWith("cn-")) return "cn-north-1";
	return region.startsWith("us-gov-") ? "us-gov-west-1" : "us-east-1";
}

function priceRegion(home: string): string {
	return home === "cn-north-1" ? "cn-northwest-1" : "us-east-1";
}

/** An emulator needs some credentials and accepts any. They end with those of the environment. */
function emulated(env: World["env"]): object {
	const endpoint = env.MQBENCH_AWS_ENDPOINT;
	if (!endpoint) return {};
	return {
		endpoint,
		credentials: { accessKeyId: "test", secretAccessKey: "test" },
	};
}

/** Makes every command of a client report which call was refused, and end when mqbench is to stop. */
function watched(
	client: object,
	service: string,
	{ env, stop }: Pick<World, "env" | "stop">,
): void {
	const { middlewareStack } = client as {
		middlewareStack: {
			add(
				wrap: (
					next: (args: unknown) => Promise<unknown>,
					context: { commandName?: string },
				) => (args: unknown) => Promise<unknown>,
				where: { step: "initialize"; priority: "high"; name: string },
			): void;
		};
	};
	middlewareStack.add(
		(next, context) => async (args) => {
			const name = (context.commandName ?? "").replace(/Command$/, "");
			try {
				return await unlessStopped(() => next(args), stop);
			} catch (error) {
				orInterrupted(stop);
				throw refusedBy(error, `${service}:${name}`, env);
			}
		},
		{ step: "initialize", priority: "high", name: "mqbench" },
	);
}

async function unlessStopped<T>(send: () => Promise<T>, stop: AbortSignal): Promise<T> {
	stop.throwIfAborted();
	let leave = () => {};
	const stopped = new Promise<never>((_, reject) => {
		leave = () => reject(stop.reason);
		stop.addEventListener("abort", leave, { once: true });
	});
	try {
		return await Promise.race([send(), stopped]);
	} finally {
		stop.removeEventListener("abort", leave);
	}
}

function refusedBy(error: unknown, call: string, env: World["env"]): Refused {
	const { name, code, Code, message } = error as {
		name?: string;
		code?: string;
		Code?: string;
		message?: string;
	};
	// For errors of the network, Node gives the code, and "Error" as the name.
	const known = name === undefined || name === "Error" ? (Code ?? code) : name;
	const words = (message ?? "")
		.replace(/^An error occurred \(\w+\) when calling the \w+ operation: /, "")
		// AWS appends a blob that only its own decoder can read.
		.replace(/\s*Encoded authorization failure message:.*$/s, "")
		.replace(/\s+/g, " ")
		.trim()
		.replace(/\.$/, "");
	const refused = new Refused(call, known ?? "Error", words || (known ?? "no reason"));
	const proxy = refused.unreached ? proxyText(env) : null;
	return proxy === null ? refused : new Refused(call, refused.code, `${refused.message}; ${proxy}`);
}
