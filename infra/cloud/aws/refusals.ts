import path from "node:path";
import { tell } from "../../../runner/text/tell.ts";
import type { Refused } from "./api.ts";
import { awsFolder } from "./folder.ts";

/** What to do about a refusal of AWS, by its codes, which Pulumi repeats; null: its own words have to do. */
export function remedyFor(words: string): string | null {
	return REMEDIES.find(([codes]) => codes.test(words))?.[1] ?? null;
}

/** A refused call as a sentence: the call, AWS's words, and what to do. */
export function sentenceOf(refused: Refused): string {
	const { call, code, message, unreached } = refused;
	const said = tell(unreached ? "aws-unreached" : "aws-refused", { call, code, message });
	const remedy = remedyFor(code);
	return remedy === null ? said : `${said} ${remedy}`;
}

// --- internal ---

/** https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
	[/Insufficient\w*Capacity|UnfulfillableCapacity/, tell("aws-no-room")],
	[/\w*LimitExceeded|MaxSpotInstanceCountExceeded/, tell("aws-quota")],
	[
		/UnauthorizedOperation|AccessDenied|NotAuthorized/,
		tell("policy-remedy", {
			policy: path.join(awsFolder, "policy.json"),
			permissions: path.join(awsFolder, "PERMISSIONS.md"),
		}),
	],
	[/RequestExpired|RequestTimeTooSkewed/, tell("aws-clock")],
	[
		/Expired|CredentialsProviderError|TokenProviderError|NoCredentials|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|AuthFailure|IncompleteSignature|OptInRequired/,
		tell("aws-log-in"),
	],
	[/Unsupported\b|InvalidParameterValue|InvalidParameterCombination/, tell("aws-other-types")],
];
