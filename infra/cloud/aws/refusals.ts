import path from "node:path";
import type { Refused } from "./api.ts";
import { awsFolder } from "./folder.ts";

/** What to do about a refusal of AWS, by its codes, which Pulumi repeats; null: its own words have to do. */
export function remedyFor(words: string): string | null {
	return REMEDIES.find(([codes]) => codes.test(words))?.[1] ?? null;
}

/** A refused call as a sentence: the call, AWS's words, and what to do. */
export function sentenceOf(refused: Refused): string {
	const { call, code, message, unreached } = refused;
	const said = unreached
		? `${call}: AWS cannot be reached from here (${code}: ${message}). Try again when this machine has a connection to the internet.`
		: `${call}: AWS refused (${code}: ${message}).`;
	const remedy = remedyFor(code);
	return remedy === null ? said : `${said} ${remedy}`;
}

// --- internal ---

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
	[
		/Insufficient\w*Capacity|UnfulfillableCapacity/,
		"AWS has no such machines free in this zone: write another one (aws.zone) or other types, or try again later.",
	],
	[
		/\w*LimitExceeded|MaxSpotInstanceCountExceeded/,
		"Ask AWS for a higher quota (aws service-quotas list-service-quotas --service-code ec2), or take fewer or smaller machines.",
	],
	[
		/UnauthorizedOperation|AccessDenied|NotAuthorized/,
		`Give it the policy ${path.join(awsFolder, "policy.json")} (what each permission is for: ${path.join(awsFolder, "PERMISSIONS.md")}), or take another account (AWS_PROFILE, aws.profile).`,
	],
	[/RequestExpired|RequestTimeTooSkewed/, "Set the clock of this machine."],
	[
		/Expired|CredentialsProviderError|TokenProviderError|NoCredentials|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|AuthFailure|IncompleteSignature|OptInRequired/,
		"Log in (aws sso login, aws configure), or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; a region may have to be enabled for the account first.",
	],
	[
		/Unsupported\b|InvalidParameterValue|InvalidParameterCombination/,
		"Take other types or another zone: all machines of a rig are in one cluster placement group.",
	],
];
