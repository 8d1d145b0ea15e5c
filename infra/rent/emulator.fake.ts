import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, type TestAPI, test } from "vitest";
import { packageFolder } from "../../runner/package.ts";
import { sha256 } from "../../runner/sha256.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { findOnPath } from "../local/program.ts";
import { takeLock } from "../lock.ts";
import { openApi } from "./api.ts";

/**
 * For tests: AWS as moto (https://docs.getmoto.org) emulates it, with a stand-in before it for the parts that moto lacks: placement groups,
 * and ends of spot requests.
 */
export interface Emulator {
	/** Value of MQBENCH_AWS_ENDPOINT. */
	readonly endpoint: string;
	/** Its account data; tests change them. */
	readonly account: Account;
	/** Every call since it was last emptied, with IAM's name: "ec2:RunInstances". */
	readonly calls: string[];
	close(): Promise<void>;
}

export interface Account {
	/** Calls that are not allowed: "ec2:RunInstances". */
	denied: Set<string>;
	/** Error codes, returned instead of a call's normal answer: "sts:GetCallerIdentity" -> "ExpiredToken". */
	broken: Map<string, string>;
}

/** Images that the emulator has: Debian's, and one of another owner. */
export const IMAGES = {
	newest: "ami-0123456789abcdef1",
	older: "ami-0123456789abcdef2",
	own: "ami-0123456789abcdef5",
} as const;

/** Calls that infra/aws/policy.json allows. */
export function allowedCalls(): string[] {
	const file = path.join(packageFolder, "infra/aws/policy.json");
	const policy = JSON.parse(readFileSync(file, "utf8"));
	return policy.Statement.flatMap(({ Action }: { Action: string[] }) => Action).sort();
}

/** Why this machine cannot have it; null if it can. With CI=true it must. */
export function emulatorMissing(): string | null {
	if (findOnPath("python3", process.env) !== null) return null;
	const reason = "python3 is not on PATH (packages python3, python3-venv)";
	if (process.env.CI !== "true") return reason;
	throw new Error(`${reason}, and CI must not skip these tests`);
}

/** For a file of tests: an emulator, and a `test` that needs it. */
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
	const moto = await startMoto();
	const account: Account = { denied: new Set(), broken: new Map() };
	const calls: string[] = [];
	const server = standInFor(moto.url, account, calls);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
	return {
		endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		account,
		calls,
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
			await moto.close();
		},
	};
}

/** Makes a machine with those tags, for a rig. */
export async function tagged({ endpoint }: Emulator, id: string, parts: object = {}) {
	const where = { region: "eu-central-1", profile: null };
	const { ec2 } = await openApi(where, fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: endpoint } }));
	const tags = { run: id, owner: "moto", expires: "2026-01-02T06:04:05.000Z", ...parts };
	const Tags = Object.entries(tags).map(([name, Value]) => ({ Key: `mqbench:${name}`, Value }));
	const one = {
		MinCount: 1,
		MaxCount: 1,
		ImageId: IMAGES.newest,
		InstanceType: "m5.large",
	} as const;
	await ec2.runInstances({ ...one, TagSpecifications: [{ ResourceType: "instance", Tags }] });
}

// --- internal ---

const REQUIREMENTS = path.join(packageFolder, "infra/rent/emulator.requirements.txt");

const run = promisify(execFile);

/** The folder of moto's modules for a Python. */
async function modulesFor(python: string): Promise<string> {
	const text = readFileSync(REQUIREMENTS, "utf8");
	const { stdout: version } = await run(python, ["-VV"]);
	const key = sha256(`${text}\n${version}\n${python}`).slice(0, 16);
	const { username, uid } = userInfo();
	const base = process.env.MQBENCH_TEST_CACHE ?? tmpdir();
	const cache = path.join(base, `mqbench-emulator-${username}`);
	await mkdir(cache, { recursive: true, mode: 0o700 });
	// Another user could put programs into it.
	if ((await stat(cache)).uid !== uid)
		throw new Error(`${cache} is somebody else's; set MQBENCH_TEST_CACHE`);
	const folder = path.join(cache, key);
	const lock = await takeLock(`${folder}.lock`, new AbortController().signal, () => {});
	try {
		if (existsSync(folder)) return folder;
		const making = `${folder}.making`;
		for (const one of [making, `${making}.pip`]) await rm(one, { recursive: true, force: true });
		// Debian's Python has no pip, but makes an environment that has one (package python3-venv).
		await run(python, ["-m", "venv", `${making}.pip`]);
		// All that moto needs here is in the file, so nothing newer comes along.
		const how = "install --quiet --disable-pip-version-check --no-deps --no-compile";
		const what = ["--require-hashes", "--requirement", REQUIREMENTS, "--target", making];
		const pip = path.join(`${making}.pip`, "bin/python");
		await run(pip, ["-m", "pip", ...how.split(" "), ...what]);
		await rm(`${making}.pip`, { recursive: true, force: true });
		await rename(making, folder);
		return folder;
	} finally {
		await lock.release();
	}
}

/** Ends with the process that started it, kill -9 included: its standard input is then at its end. */
const PROGRAM = `
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
from moto.server import main
main(["-H", "127.0.0.1", "-p", "0"])
`;

async function startMoto(): Promise<{ url: string; close(): Promise<void> }> {
	const python = findOnPath("python3", process.env) ?? "python3";
	const modules = await modulesFor(python);
	const folder = await mkdtemp(path.join(tmpdir(), "mqbench-test-moto-"));
	const images = path.join(folder, "images.json");
	await writeFile(images, JSON.stringify(imagesOfMoto()));
	const child = spawn(python, ["-u", "-c", PROGRAM], {
		stdio: ["pipe", "ignore", "pipe"],
		env: { PATH: process.env.PATH, PYTHONPATH: modules, MOTO_AMIS_PATH: images },
	});
	const ended = once(child, "exit");
	let words = "";
	const url = await new Promise<string>((resolve, reject) => {
		child.stderr.on("data", (bytes: Buffer) => {
			words = (words + bytes.toString()).slice(-4_000);
			const found = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(words)?.[1];
			if (found !== undefined) resolve(found);
		});
		ended.then(() => reject(new Error(`moto ended before it was up: ${words}`)), reject);
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

function imagesOfMoto(): object[] {
	return [
		image(IMAGES.older, "debian-12-amd64-20250101-1", "2025"),
		image(IMAGES.newest, "debian-12-amd64-20260101-2", "2026"),
		{ ...image(IMAGES.own, "somebody-s-own-2", "2020"), owner_id: "210987654321" },
	];
}

function image(id: string, name: string, year: string) {
	return {
		ami_id: id,
		name,
		architecture: "x86_64",
		owner_id: "136693071363",
		creation_date: `${year}-01-01T00:00:00.000Z`,
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
	/** Parameters of the call, as EC2 writes them: "Filter.1.Name". */
	readonly parameters: ReadonlyMap<string, string>;
}

function standInFor(moto: string, account: Account, calls: string[]): Server {
	const placements: PlacementGroup[] = [];
	return createServer(async (request, response) => {
		try {
			const body = await text(request);
			const { method = "POST", url } = request;
			const { host, connection, "content-length": _, ...headers } = request.headers;
			const asked = parse(headers.authorization ?? "", body);
			const call = `${asked.service}:${asked.action}`;
			calls.push(call);
			const code = account.broken.get(call);
			const own = OWN[call];
			let [status, answer] = [200, ""];
			if (code !== undefined) [status, answer] = [400, wrong(asked, code, "as the test wants")];
			else if (account.denied.has(call))
				[status, answer] = [403, wrong(asked, "UnauthorizedOperation", DENIED)];
			else if (own)
				answer = `<${asked.action}Response>${own(asked, placements)}</${asked.action}Response>`;
			else {
				const what = { method, headers: headers as Record<string, string>, body };
				const passed = await fetch(`${moto}${url}`, what);
				[status, answer] = [passed.status, await passed.text()];
			}
			response.writeHead(status, { "content-type": "text/xml" }).end(answer);
		} catch (error) {
			response.writeHead(500).end(String(error));
		}
	});
}

/** `scope`: "AWS4-HMAC-SHA256 Credential=test/20260101/eu-central-1/ec2/aws4_request, ..." */
function parse(scope: string, body: string): Asked {
	const found = /Credential=[^/]+\/\d+\/([^/]+)\/(\w+)\//.exec(scope) ?? [];
	const [, region = "", service = ""] = found;
	const parameters = new Map(new URLSearchParams(body));
	return { service, region, action: parameters.get("Action") ?? "", parameters };
}

const DENIED =
	"You are not authorized to perform this operation. Encoded authorization failure message: c2VjcmV0";

function wrong({ service }: Asked, code: string, message: string): string {
	const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>`;
	return service === "ec2"
		? `<Response><Errors>${error}</Errors><RequestID>1</RequestID></Response>`
		: `<ErrorResponse>${error}<RequestId>1</RequestId></ErrorResponse>`;
}

interface PlacementGroup {
	readonly region: string;
	readonly name: string;
	readonly tags: ReadonlyMap<string, string>;
}

/** The calls that moto lacks. */
const OWN: Readonly<Record<string, (asked: Asked, placements: PlacementGroup[]) => string>> = {
	// moto only has requests that were made under that name.
	"ec2:CancelSpotInstanceRequests": () => "<spotInstanceRequestSet/>",
	"ec2:CreatePlacementGroup"({ region, parameters }, placements) {
		const tags = [...parameters].flatMap(([key, value]) => {
			const at = /^(TagSpecification\.1\.Tag\.\d+)\.Key$/.exec(key)?.[1];
			return at === undefined ? [] : [[value, parameters.get(`${at}.Value`) ?? ""] as const];
		});
		placements.push({ region, name: parameters.get("GroupName") ?? "", tags: new Map(tags) });
		return "<return>true</return>";
	},
	"ec2:DeletePlacementGroup"({ region, parameters }, placements) {
		const name = parameters.get("GroupName");
		const at = placements.findIndex((one) => one.region === region && one.name === name);
		if (at >= 0) placements.splice(at, 1);
		return "<return>true</return>";
	},
	"ec2:DescribePlacementGroups"({ region, parameters }, placements) {
		const filter = parameters.get("Filter.1.Name") ?? "";
		const value = parameters.get("Filter.1.Value.1") ?? "";
		const [, tag = value] = /^tag:(.*)/.exec(filter) ?? [];
		const found = placements.filter(
			({ tags, ...one }) =>
				one.region === region &&
				(filter === "" || (filter === "tag-key" ? tags.has(tag) : tags.get(tag) === value)),
		);
		const item = (inner: string) => `<item>${inner}</item>`;
		const items = found.map(({ name, tags }) => {
			const pairs = [...tags].map(([key, text]) => item(`<key>${key}</key><value>${text}</value>`));
			return item(`<groupName>${name}</groupName><tagSet>${pairs.join("")}</tagSet>`);
		});
		return `<placementGroupSet>${items.join("")}</placementGroupSet>`;
	},
};
