import { setMaxListeners } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { EC2 } from "@aws-sdk/client-ec2";
import type { STS } from "@aws-sdk/client-sts";
import { EXIT, failure, MqbenchError } from "../../runner/errors.ts";
import { packageFolder } from "../../runner/package.ts";
import type { Aws } from "../../runner/scenario/scenario.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";

/** The Pulumi project that describes the machines. Only its package.json names the SDKs. */
export const awsFolder: string = path.join(packageFolder, "infra", "aws");

/**
 * Loads a package of that project ("@aws-sdk/client-ec2"), so only users who rent download it. The types cannot be imported: the caller
 * names them. Fails with `sdk-missing`.
 */
export async function loadSdk<T>(name: string): Promise<T> {
	let file: string;
	try {
		file = createRequire(path.join(awsFolder, "package.json")).resolve(name);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "MODULE_NOT_FOUND" && code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw error;
		throw failure("sdk-missing", { folder: awsFolder });
	}
	const loaded = (await import(pathToFileURL(file).href)) as { default?: T };
	// They are CommonJS; Node does not find all of their names by itself.
	return loaded.default ?? (loaded as T);
}

/** Where AWS is asked, and with whose credentials; null for the environment's. */
export type Where = Pick<Aws, "region" | "profile">;

/** AWS, or the connection to it, has refused a call: `cloud-unfit`, or `cloud-unasked` if it is about the credentials. */
export class Refused extends MqbenchError {
	/** AWS's "UnauthorizedOperation"; "CredentialsProviderError" or "ENOTFOUND" from the SDK or the system. */
	readonly refusal: string;
	/** Without a remedy: "ec2:RunInstances: UnauthorizedOperation: You are not allowed". */
	readonly reason: string;
	/** `call` has IAM's name, "ec2:RunInstances". */
	constructor(call: string, refusal: string, words: string) {
		const said = `${call}: AWS refused (${refusal}: ${words}). ${remedyFor(refusal) ?? ""}`;
		const code = call.startsWith("sts:") ? "cloud-unasked" : "cloud-unfit";
		super(code, said.trimEnd(), EXIT.environment);
		this.refusal = refusal;
		this.reason = `${call}: ${refusal}: ${words}`;
	}
}

/**
 * Loads the SDK and makes its clients, whose failing calls throw a `Refused`; asks nothing yet. `MQBENCH_AWS_ENDPOINT` is the address of an emulator
 * that replaces AWS. Fails with `sdk-missing`, and with `usage` if the address is not a URL.
 */
export async function openApi(
	{ region, profile }: Where,
	{ env, stop }: Pick<World, "env" | "stop">,
): Promise<{ readonly ec2: EC2; readonly sts: STS }> {
	const [ec2, sts] = await Promise.all([
		loadSdk<typeof import("@aws-sdk/client-ec2")>("@aws-sdk/client-ec2"),
		loadSdk<typeof import("@aws-sdk/client-sts")>("@aws-sdk/client-sts"),
	]);
	const endpoint = env.MQBENCH_AWS_ENDPOINT;
	if (endpoint && !/^https?:/i.test(URL.canParse(endpoint) ? endpoint : ""))
		throw failure("usage", {
			message: `MQBENCH_AWS_ENDPOINT=${endpoint}: write the URL of an emulator of AWS, such as http://127.0.0.1:5000, or unset it`,
		});
	// The SDK would warn about Node's version; mqbench checks that itself.
	process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
	const credentials = { accessKeyId: "test", secretAccessKey: "test" };
	const options = (at: string) => ({
		region: at,
		...(profile !== null && { profile }),
		...(endpoint && { endpoint, credentials }),
		maxAttempts: 3,
		// Otherwise the search for credentials prints warnings to the terminal.
		logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
		// Without throwing it only prints to the terminal that it is waiting.
		requestHandler: {
			connectionTimeout: 5_000,
			requestTimeout: 30_000,
			throwOnRequestTimeout: true,
		},
	});
	return {
		ec2: watched(new ec2.EC2(options(region)), "ec2", stop),
		// It answers even if the requested region is wrong.
		sts: watched(new sts.STS(options(homeOf(region))), "sts", stop),
	};
}

/** The region of a partition in which every account is at home. */
export function homeOf(region: string): string {
	if (region.startsWith("cn-")) return "cn-north-1";
	return region.startsWith("us-gov-") ? "us-gov-west-1" : "us-east-1";
}

/** The account of the credentials in use, and the name of the user or the session, which fits into a tag. Throws a `Refused`. */
export async function callerOf(
	where: Where,
	world: Pick<World, "env" | "stop">,
): Promise<{ readonly account: string; readonly name: string }> {
	const { sts } = await openApi(where, world);
	const { Account = "", Arn = "" } = await sts.getCallerIdentity({});
	const name = Arn.split(":").at(-1)?.split("/").at(-1) ?? "";
	return {
		account: Account,
		name: name.replaceAll(/[^\w+=.:/@-]/g, "-").slice(0, 128) || "unknown",
	};
}

/** All pages of a call that answers page by page. */
export async function allPages<Page extends { NextToken?: string | undefined }>(
	ask: (token: { NextToken?: string }) => Promise<Page>,
): Promise<Page[]> {
	const pages = [await ask({})];
	for (let token = pages[0]?.NextToken; token; token = pages.at(-1)?.NextToken)
		pages.push(await ask({ NextToken: token }));
	return pages;
}

/** A remedy for a refusal of AWS, by its codes, which Pulumi repeats; null if AWS's own words have to do. */
export function remedyFor(words: string): string | null {
	return Object.entries(REMEDIES).find(([codes]) => words.match(codes))?.[1] ?? null;
}

// --- internal ---

/** By regular expression: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html */
const REMEDIES: Readonly<Record<string, string>> = {
	"\\b(ENOTFOUND|EAI_AGAIN|ECONN\\w+|E(HOST|NET)UNREACH|ETIMEDOUT|TimeoutError)\\b":
		"Try again when this machine reaches AWS over the internet; mqbench uses no proxy.",
	"Insufficient\\w*Capacity|UnfulfillableCapacity":
		"AWS has no such machines free in this zone: write another one (aws.zone) or other types, or try again later.",
	"LimitExceeded|MaxSpotInstanceCountExceeded":
		"Ask AWS for a higher quota (aws service-quotas list-service-quotas --service-code ec2), or take fewer or smaller machines.",
	"UnauthorizedOperation|AccessDenied|NotAuthorized": `Give it the policy ${path.join(awsFolder, "policy.json")} (what each permission is for: ${path.join(awsFolder, "PERMISSIONS.md")}), or take another account (AWS_PROFILE, aws.profile).`,
	"RequestExpired|RequestTimeTooSkewed": "Set the clock of this machine.",
	"Expired|CredentialsProviderError|TokenProviderError|NoCredentials|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|AuthFailure|IncompleteSignature|OptInRequired":
		"Log in (aws sso login, aws configure), or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; a region may have to be enabled for the account first.",
	"Unsupported\\b|InvalidParameterValue|InvalidParameterCombination":
		"Take other types or another zone: all machines of a rig are in one cluster placement group.",
};

interface Watchable {
	readonly middlewareStack: { add(wrap: Wrap, where: object): void };
}
type Send = (args: unknown) => Promise<unknown>;
type Wrap = (next: Send, context: { commandName?: string }) => Send;

/** Makes every command of a client report which call was refused, and end when mqbench is to stop. */
function watched<Client extends object>(client: Client, service: string, stop: AbortSignal) {
	// One for each client, and regions have separate clients.
	setMaxListeners(0, stop);
	const stopped = new Promise<never>((_, reject) => {
		stop.addEventListener("abort", () => reject(stop.reason), { once: true });
	});
	stopped.catch(() => {});
	(client as unknown as Watchable).middlewareStack.add(
		(next, { commandName = "" }) =>
			async (args) => {
				orInterrupted(stop);
				try {
					return await Promise.race([next(args), stopped]);
				} catch (error) {
					orInterrupted(stop);
					throw refusedBy(error, `${service}:${commandName.replace(/Command$/, "")}`);
				}
			},
		{ step: "initialize", priority: "high", name: "mqbench" },
	);
	return client;
}

function refusedBy(error: unknown, call: string): Refused {
	const { name, code, Code, message } = error as Error & { code?: string; Code?: string };
	// For errors of the network, Node gives the code, and "Error" as the name.
	const refusal = (name === "Error" ? (Code ?? code) : name) ?? "Error";
	const words = message
		.replace(/^An error occurred \(\w+\) when calling the \w+ operation: /, "")
		// AWS appends a blob that only its own decoder can read.
		.replace(/\s*Encoded authorization failure message:.*$/s, "")
		.replace(/\s+/g, " ")
		.trim()
		.replace(/\.$/, "");
	return new Refused(call, refusal, words || refusal);
}
