import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, type TestAPI, test } from "vitest";
import { packageFolder } from "../../../runner/package.ts";
import { findOnPath } from "../../local/program.ts";
import { takeLock } from "../../lock.ts";

/**
 * For tests: AWS as moto (https://docs.getmoto.org) emulates it, with a stand-in before it for what moto does not have: the price list,
 * placement groups, and ends of spot requests.
 */
export interface Emulator {
	/** Value of MQBENCH_AWS_ENDPOINT. */
	readonly endpoint: string;
	/** What it says of itself; tests change it. */
	readonly account: Account;
	/** Every call since it was last emptied, as IAM names it: "ec2:RunInstances". */
	readonly calls: string[];
	close(): Promise<void>;
}

export interface Account {
	/** "ec2:RunInstances": not allowed. */
	denied: Set<string>;
	/** Error codes, with which a call is answered in place of what it should be: "sts:GetCallerIdentity" -> "ExpiredToken". */
	broken: Map<string, string>;
	/** The price list. */
	products: PriceProduct[];
	/** Prices of the spot market by type; moto's own are none. */
	spot: Map<string, string>;
}

export interface PriceProduct {
	readonly service: string;
	readonly attributes: Readonly<Record<string, string>>;
	readonly steps: readonly {
		readonly unit: string;
		readonly usd: string;
		readonly from?: string;
		readonly to?: string;
	}[];
}

/** Prices of a region in the form of AWS's list: machines, GiB of gp3 for 0.09 a month, addresses for 0.005 an hour. */
export const pricesOf = (machines: Readonly<Record<string, string>>): PriceProduct[] => [
	...Object.entries(machines).map(([type, usd]) => machinePrice(type, usd)),
	volumePrice("gp3", "VolumeUsage.gp3", "GB-Mo", "0.0900000000"),
	{
		service: "AmazonVPC",
		attributes: { regionCode: REGION, usagetype: "EUC1-PublicIPv4:InUseAddress" },
		steps: [{ unit: "Hrs", usd: "0.0050000000" }],
	},
];

export const machinePrice = (
	instanceType: string,
	usd: string,
	other: object = {},
): PriceProduct => ({
	service: "AmazonEC2",
	attributes: {
		regionCode: REGION,
		instanceType,
		operatingSystem: "Linux",
		tenancy: "Shared",
		preInstalledSw: "NA",
		capacitystatus: "Used",
		marketoption: "OnDemand",
		usagetype: `EUC1-BoxUsage:${instanceType}`,
		...other,
	},
	steps: [{ unit: "Hrs", usd }],
});

export const volumePrice = (
	volumeApiName: string,
	usage: string,
	unit: string,
	usd: string,
): PriceProduct => ({
	service: "AmazonEC2",
	attributes: { regionCode: REGION, volumeApiName, usagetype: `EUC1-EBS:${usage}` },
	steps: [{ unit, usd }],
});

const REGION = "eu-central-1";

/** Images that the emulator has: as moto reads them. */
export const IMAGES = {
	newest: "ami-0123456789abcdef1",
	older: "ami-0123456789abcdef2",
	arm: "ami-0123456789abcdef3",
	/** Not Debian's. */
	own: "ami-0123456789abcdef5",
} as const;

/** Calls that infra/aws/policy.json allows. */
export function allowedCalls(): string[] {
	const policy = JSON.parse(
		readFileSync(path.join(packageFolder, "infra/aws/policy.json"), "utf8"),
	);
	return policy.Statement.flatMap(({ Action }: { Action: string[] }) => Action).sort();
}

/** Why this machine cannot have it; null: it can. With CI=true it must. */
export function emulatorMissing(): string | null {
	const reason =
		findOnPath("python3", process.env) === null
			? "python3 is not on PATH (packages python3, python3-venv)"
			: null;
	if (reason !== null && process.env.CI === "true")
		throw new Error(`${reason}, and CI must not skip these tests`);
	return reason;
}

/** For a file of tests: an emulator of its own, and a `test` that needs it. */
export function emulated(): { readonly aws: Emulator; readonly onAws: TestAPI } {
	const missing = emulatorMissing();
	const aws = {} as Emulator;
	beforeAll(async () => {
		if (missing === null) Object.assign(aws, await startEmulator());
	}, 240_000);
	afterAll(() => aws.close?.());
	return { aws, onAws: test.skipIf(missing !== null) as TestAPI };
}

/** Starts it on free ports, after fetching moto once for this machine (half a minute). */
export async function startEmulator(): Promise<Emulator> {
	const moto = await startMoto(await environment());
	const standIn = await startStandIn(moto.url);
	return {
		...standIn,
		async close() {
			await standIn.close();
			await moto.close();
		},
	};
}

/** The stand-in alone, for what moto has no part in: the price list. */
export async function startStandIn(moto: string | null = null): Promise<Emulator> {
	const account: Account = { denied: new Set(), broken: new Map(), products: [], spot: new Map() };
	const calls: string[] = [];
	const server = standInFor(moto, account, calls);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
	return {
		endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		account,
		calls,
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

// --- internal ---

const REQUIREMENTS = path.join(packageFolder, "infra/cloud/emulator.requirements.txt");

/** A Python, and the folder of moto's modules for it. */
async function environment(): Promise<{ python: string; modules: string }> {
	const base = findOnPath("python3", process.env);
	if (base === null) throw new Error(emulatorMissing() ?? "no python3");
	const text = readFileSync(REQUIREMENTS, "utf8");
	const { stdout: version } = await run(base, ["-VV"]);
	const key = createHash("sha256")
		.update(`${text}\n${version}\n${base}`)
		.digest("hex")
		.slice(0, 16);
	const cache = path.join(
		process.env.MQBENCH_TEST_CACHE ?? tmpdir(),
		`mqbench-emulator-${userInfo().username}`,
	);
	await mkdir(cache, { recursive: true, mode: 0o700 });
	// Somebody else could put programs into it.
	if ((await stat(cache)).uid !== userInfo().uid)
		throw new Error(`${cache} is somebody else's; set MQBENCH_TEST_CACHE`);
	const folder = path.join(cache, key);
	const lock = await takeLock(
		path.join(cache, `${key}.lock`),
		new AbortController().signal,
		() => {},
	);
	try {
		if (existsSync(folder)) return { python: base, modules: folder };
		const making = path.join(cache, `${key}.making`);
		await rm(making, { recursive: true, force: true });
		// Python without pip, as Debian has it, makes an environment that has one; that takes longer.
		const pip = await run(base, ["-m", "pip", "--version"]).then(
			() => base,
			() => environmentWithPip(base, `${making}.pip`),
		);
		// All that moto needs here is in the file, so nothing newer comes along.
		await run(pip, [
			"-m",
			"pip",
			"install",
			"--quiet",
			"--disable-pip-version-check",
			"--no-deps",
			"--no-compile",
			"--require-hashes",
			"--requirement",
			REQUIREMENTS,
			"--target",
			making,
		]);
		await rm(`${making}.pip`, { recursive: true, force: true });
		await rename(making, folder);
	} finally {
		await lock.release();
	}
	return { python: base, modules: folder };
}

async function environmentWithPip(base: string, folder: string) {
	await rm(folder, { recursive: true, force: true });
	await run(base, ["-m", "venv", folder]).catch((error: Error) => {
		throw new Error(
			`python3 has no pip, and makes no environment with one (package python3-venv): ${error.message}`,
		);
	});
	return path.join(folder, "bin/python");
}

async function run(program: string, args: readonly string[]) {
	return promisify(execFile)(program, [...args], { encoding: "utf8", maxBuffer: 16 * 1024 ** 2 });
}

/** Ends with whoever started it, kill -9 included: its standard input is then at its end. */
const PROGRAM = `
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
from moto.server import main
main(["-H", "127.0.0.1", "-p", "0"])
`;

async function startMoto({
	python,
	modules,
}: {
	python: string;
	modules: string;
}): Promise<{ url: string; close(): Promise<void> }> {
	const folder = await mkdtemp(path.join(tmpdir(), "mqbench-test-moto-"));
	const images = path.join(folder, "images.json");
	await writeFile(images, JSON.stringify(imagesOfMoto()));
	const child: ChildProcess = spawn(python, ["-u", "-c", PROGRAM], {
		stdio: ["pipe", "ignore", "pipe"],
		env: { PATH: process.env.PATH, PYTHONPATH: modules, MOTO_AMIS_PATH: images },
	});
	const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
	let words = "";
	const url = await new Promise<string>((resolve, reject) => {
		child.stderr?.on("data", (bytes: Buffer) => {
			words = (words + bytes.toString()).slice(-4_000);
			const found = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(words)?.[1];
			if (found !== undefined) resolve(found);
		});
		child.once("error", reject);
		child.once("exit", () => reject(new Error(`moto ended before it was up: ${words}`)));
	});
	return {
		url,
		async close() {
			child.kill("SIGKILL");
			await ended;
			await rm(folder, { recursive: true, force: true });
		},
	};
}

/** The images of Debian's account, and one of somebody else. */
function imagesOfMoto(): object[] {
	return [
		image(IMAGES.older, "debian-12-amd64-20250101-1", "x86_64"),
		image(IMAGES.newest, "debian-12-amd64-20260101-2", "x86_64"),
		image(IMAGES.arm, "debian-12-arm64-20260101-2", "arm64"),
		{ ...image(IMAGES.own, "somebody-s-own-2", "x86_64"), owner_id: "210987654321" },
	];
}

function image(id: string, name: string, architecture: string) {
	return {
		ami_id: id,
		name,
		architecture,
		owner_id: "136693071363",
		creation_date: `${/-(\d{4})/.exec(name)?.[1] ?? "2020"}-01-01T00:00:00.000Z`,
		state: "available",
		public: true,
		image_location: `amazon/${name}`,
		description: name,
		image_type: "machine",
		platform: null,
		root_device_type: "ebs",
		root_device_name: "/dev/xvda",
		sriov: "simple",
		virtualization_type: "hvm",
		hypervisor: "xen",
	};
}

interface Asked {
	readonly service: string;
	readonly region: string;
	readonly action: string;
	/** Parameters of the call, of EC2 as it writes them: "Filter.1.Name". */
	readonly parameters: ReadonlyMap<string, string>;
	/** Of services that speak JSON. */
	readonly json: Record<string, unknown>;
}

function standInFor(moto: string | null, account: Account, calls: string[]): Server {
	const placements = new Map<string, PlacementGroup>();
	return createServer(async (request, response) => {
		try {
			const body = await textOf(request);
			const asked = parse(request, body);
			const call = `${asked.service}:${asked.action}`;
			calls.push(call);
			const answer = refusal(asked, call, account) ?? own(asked, account, placements);
			if (answer !== null) {
				response.writeHead(answer.status, { "content-type": answer.type });
				response.end(answer.text);
				return;
			}
			const { host, connection, "content-length": _, ...headers } = request.headers;
			const passed = await fetch(`${moto}${request.url}`, {
				method: request.method ?? "POST",
				headers: headers as Record<string, string>,
				body,
			});
			response.writeHead(passed.status, {
				"content-type": passed.headers.get("content-type") ?? "text/xml",
			});
			const text = await passed.text();
			response.end(text);
		} catch (error) {
			response.writeHead(500).end(String(error));
		}
	});
}

async function textOf(request: IncomingMessage): Promise<string> {
	let text = "";
	for await (const chunk of request) text += chunk;
	return text;
}

function parse(request: IncomingMessage, body: string): Asked {
	const target = String(request.headers["x-amz-target"] ?? "");
	// "AWS4-HMAC-SHA256 Credential=test/20260101/eu-central-1/ec2/aws4_request, ..."
	const scope = /Credential=[^/]+\/\d+\/([^/]+)\/(\w+)\//.exec(request.headers.authorization ?? "");
	const region = scope?.[1] ?? "";
	if (target !== "") {
		const [name = "", action = ""] = target.split(".");
		return {
			service: name === "AWSPriceListService" ? "pricing" : name,
			region,
			action,
			parameters: new Map(),
			json: JSON.parse(body),
		};
	}
	const parameters = new Map(new URLSearchParams(body));
	return {
		service: scope?.[2] ?? "",
		region,
		action: parameters.get("Action") ?? "",
		parameters,
		json: {},
	};
}

interface Answer {
	readonly status: number;
	readonly type: string;
	readonly text: string;
}

/** null: the call is answered. */
function refusal(asked: Asked, call: string, { denied, broken }: Account): Answer | null {
	const code = broken.get(call);
	if (code !== undefined) return wrong(asked, 400, code, "as the test wants");
	if (denied.has(call))
		return asked.service === "ec2"
			? wrong(
					asked,
					403,
					"UnauthorizedOperation",
					"You are not authorized to perform this operation. Encoded authorization failure message: c2VjcmV0",
				)
			: wrong(asked, 400, "AccessDeniedException", "not authorized");
	return null;
}

function wrong({ service }: Asked, status: number, code: string, message: string): Answer {
	if (service !== "ec2" && service !== "sts") return json({ __type: code, message }, status);
	return xml(
		service === "ec2"
			? `<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>1</RequestID></Response>`
			: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
		status,
	);
}

interface PlacementGroup {
	readonly region: string;
	readonly name: string;
	readonly strategy: string;
	readonly tags: ReadonlyMap<string, string>;
}

/** What moto does not have. null: it is moto's to answer. */
function own(
	asked: Asked,
	account: Account,
	placements: Map<string, PlacementGroup>,
): Answer | null {
	const { service, region, action, parameters, json: input } = asked;
	switch (`${service}:${action}`) {
		case "pricing:GetProducts":
			return json({
				FormatVersion: "aws_v1",
				PriceList: account.products.filter((product) => matches(product, input)).map(productText),
			});
		case "ec2:DescribeSpotPriceHistory": {
			const type = parameters.get("InstanceType.1") ?? "";
			const price = account.spot.get(type);
			return xml(
				`<DescribeSpotPriceHistoryResponse><spotPriceHistorySet>${
					price === undefined
						? ""
						: `<item><instanceType>${type}</instanceType><spotPrice>${price}</spotPrice><timestamp>2026-01-01T00:00:00.000Z</timestamp></item>`
				}</spotPriceHistorySet></DescribeSpotPriceHistoryResponse>`,
			);
		}
		// moto knows only requests that it was asked for by that name.
		case "ec2:CancelSpotInstanceRequests":
			return xml(
				"<CancelSpotInstanceRequestsResponse><spotInstanceRequestSet/></CancelSpotInstanceRequestsResponse>",
			);
		case "ec2:CreatePlacementGroup": {
			const name = parameters.get("GroupName") ?? "";
			placements.set(`${region} ${name}`, {
				region,
				name,
				strategy: parameters.get("Strategy") ?? "",
				tags: new Map(
					[...parameters].flatMap(([key, value]) => {
						const at = /^(TagSpecification\.1\.Tag\.\d+)\.Key$/.exec(key)?.[1];
						return at === undefined ? [] : [[value, parameters.get(`${at}.Value`) ?? ""] as const];
					}),
				),
			});
			return xml(
				"<CreatePlacementGroupResponse><return>true</return></CreatePlacementGroupResponse>",
			);
		}
		case "ec2:DeletePlacementGroup": {
			const name = parameters.get("GroupName") ?? "";
			return placements.delete(`${region} ${name}`)
				? xml("<DeletePlacementGroupResponse><return>true</return></DeletePlacementGroupResponse>")
				: wrong(asked, 400, "InvalidPlacementGroup.Unknown", "no such group");
		}
		case "ec2:DescribePlacementGroups": {
			const filter = parameters.get("Filter.1.Name") ?? "";
			const value = parameters.get("Filter.1.Value.1") ?? "";
			const found = [...placements.values()].filter(
				(group) =>
					group.region === region &&
					(filter === "tag-key"
						? group.tags.has(value)
						: !filter.startsWith("tag:") || group.tags.get(filter.slice(4)) === value),
			);
			return xml(
				`<DescribePlacementGroupsResponse><placementGroupSet>${found
					.map(
						({ name, strategy, tags }) =>
							`<item><groupName>${name}</groupName><strategy>${strategy}</strategy><state>available</state><tagSet>${[
								...tags,
							]
								.map(([key, text]) => `<item><key>${key}</key><value>${text}</value></item>`)
								.join("")}</tagSet></item>`,
					)
					.join("")}</placementGroupSet></DescribePlacementGroupsResponse>`,
			);
		}
		default:
			return null;
	}
}

function matches({ service, attributes }: PriceProduct, input: Record<string, unknown>): boolean {
	const filters = (input.Filters ?? []) as { Field: string; Value: string }[];
	return (
		service === input.ServiceCode &&
		filters.every(({ Field, Value }) => attributes[Field] === Value)
	);
}

/** In the form of AWS's price list. */
function productText({ service, attributes, steps }: PriceProduct): string {
	const dimensions = steps.map(({ unit, usd, from = "0", to = "Inf" }, i) => [
		`SKU.JRTCKXETXF.${i}`,
		{ unit, beginRange: from, endRange: to, pricePerUnit: { USD: usd } },
	]);
	return JSON.stringify({
		product: { sku: "SKU", attributes: { servicecode: service, ...attributes } },
		serviceCode: service,
		terms: { OnDemand: { "SKU.JRTCKXETXF": { priceDimensions: Object.fromEntries(dimensions) } } },
	});
}

function json(value: unknown, status = 200): Answer {
	return { status, type: "application/x-amz-json-1.1", text: JSON.stringify(value) };
}

function xml(text: string, status = 200): Answer {
	return { status, type: "text/xml", text };
}
