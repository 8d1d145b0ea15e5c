import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../../../runner/package.ts";
import { neededCalls } from "./permissions.ts";

interface Policy {
	readonly Version: string;
	readonly Statement: readonly {
		readonly Effect: string;
		readonly Action: readonly string[];
		readonly Resource: string;
	}[];
}

const policy = JSON.parse(
	readFileSync(path.join(packageFolder, "infra/aws/policy.json"), "utf8"),
) as Policy;

test("the policy allows what is needed, and nothing else", () => {
	const allowed = policy.Statement.flatMap(({ Effect, Action }) => {
		expect(Effect).toBe("Allow");
		return Action;
	});
	expect([...allowed].sort()).toEqual(neededCalls());
	// No wildcard: whoever gives it sees what is given.
	expect(allowed.filter((action) => action.includes("*"))).toEqual([]);
});

/**
 * What Pulumi's provider calls for a resource of each kind, from making to removing it, read out of its sources (hashicorp/aws 6) and not tried on
 * AWS. So this finds a kind of resource, or a call listed here, that the policy forgets; a call of the provider that is missing here as well it
 * cannot find: only a run on AWS with this policy does.
 */
const CALLS = (spot: boolean): Readonly<Record<string, string>> => ({
	Vpc: "CreateVpc DeleteVpc DescribeVpcs DescribeVpcAttribute ModifyVpcAttribute DescribeNetworkAcls DescribeRouteTables DescribeSecurityGroups",
	InternetGateway:
		"CreateInternetGateway AttachInternetGateway DetachInternetGateway DeleteInternetGateway DescribeInternetGateways",
	RouteTable:
		"CreateRouteTable CreateRoute DeleteRoute DeleteRouteTable DescribeRouteTables",
	RouteTableAssociation:
		"AssociateRouteTable DisassociateRouteTable DescribeRouteTables",
	Subnet:
		"CreateSubnet DeleteSubnet DescribeSubnets ModifySubnetAttribute DescribeNetworkInterfaces",
	SecurityGroup:
		"CreateSecurityGroup DeleteSecurityGroup DescribeSecurityGroups DescribeSecurityGroupRules AuthorizeSecurityGroupIngress AuthorizeSecurityGroupEgress RevokeSecurityGroupIngress RevokeSecurityGroupEgress DescribeNetworkInterfaces",
	PlacementGroup:
		"CreatePlacementGroup DeletePlacementGroup DescribePlacementGroups",
	KeyPair: "ImportKeyPair DeleteKeyPair DescribeKeyPairs",
	Instance: `RunInstances TerminateInstances DescribeInstances DescribeInstanceAttribute DescribeInstanceTypes DescribeImages DescribeVolumes DescribeTags ModifyInstanceAttribute CreateTags${
		// A machine with instanceLifecycle "spot" has a request, which is read with it and cancelled before it ends.
		spot ? " DescribeSpotInstanceRequests CancelSpotInstanceRequests" : ""
	}`,
});

test.each([
	["on demand", false],
	["of the spot market", true],
])(
	"each kind of resource of the Pulumi program is allowed, with clients %s",
	(_, spot) => {
		const folder = path.join(packageFolder, "infra/aws");
		const sources = readdirSync(folder)
			.filter(
				(file) => file.endsWith(".ts") && !/\.(test|fake)\.ts$/.test(file),
			)
			.map((file) => readFileSync(path.join(folder, file), "utf8"));
		const made = new Set(
			sources.flatMap((text) =>
				[...text.matchAll(/new aws\.(?:ec2\.)?(\w+)/g)].map(
					([, kind = ""]) => kind,
				),
			),
		);
		made.delete("Provider");
		expect([...made].sort()).toEqual(Object.keys(CALLS(spot)).sort());
		const allowed = policy.Statement.flatMap(({ Action }) => Action);
		const wanted = Object.values(CALLS(spot))
			.flatMap((calls) => calls.split(" "))
			.map((call) => `ec2:${call}`);
		expect(wanted.filter((call) => !allowed.includes(call))).toEqual([]);
		// What must be allowed is also asked about beforehand.
		expect(wanted.filter((call) => !neededCalls().includes(call))).toEqual([]);
	},
);

test("the page on permissions names each of them", () => {
	const page = readFileSync(
		path.join(packageFolder, "infra/aws/PERMISSIONS.md"),
		"utf8",
	);
	expect(
		neededCalls().filter((call) => !page.includes(`\`${call.split(":")[1]}\``)),
	).toEqual([]);
});
