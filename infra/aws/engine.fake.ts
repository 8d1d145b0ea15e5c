import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { hostNumber } from "./pulumi.fake.ts";

/** For tests: one resource that the program has registered, as Pulumi's engine is told of it. */
export interface Registered {
	readonly type: string;
	readonly name: string;
	/** Names of what has to be there before it. */
	readonly after: readonly string[];
	/** Name of what it is a part of. */
	readonly parent: string | null;
	/** How long the provider may take to make it and to remove it: "40m"; "": as it does by itself. */
	readonly limits: { readonly create: string; readonly delete: string };
}

export interface Ran {
	/** Of the program's process. */
	readonly code: number | null;
	/** What a person at the terminal is told. */
	readonly said: string;
	readonly registered: readonly Registered[];
	/** Outputs of the stack, as it keeps them; null: the program did not come so far. */
	readonly outputs: Readonly<Record<string, unknown>> | null;
}

/**
 * Runs the project as the command pulumi does, from Pulumi.yaml's `main` on: with Pulumi's own loader of Node programs, in a process of its
 * own. Only the engine, to which that talks over gRPC, is not Pulumi's: it takes what it is told, and says what AWS might.
 */
export async function runProject(
	config: Readonly<Record<string, string>>,
	/** What AWS says of each machine, else than usual. */
	machine: Readonly<Record<string, string>> = {},
): Promise<Ran> {
	const registered: Registered[] = [];
	let said = "";
	let outputs: Record<string, unknown> | null = null;
	const server = new grpc.Server();
	server.addService(resources.ResourceMonitorService, {
		supportsFeature(_: Call, answer: Answer) {
			const response = new messages.SupportsFeatureResponse();
			// Without it plain outputs come plain.
			response.setHassupport(_.request.getId() !== "outputValues");
			answer(null, response);
		},
		registerPackage(_: Call, answer: Answer) {
			const response = new messages.RegisterPackageResponse();
			response.setRef("aws");
			answer(null, response);
		},
		registerResource({ request }: Call, answer: Answer) {
			const [type, name] = [request.getType(), request.getName()];
			registered.push({
				type,
				name,
				after: request.getDependenciesList().map(nameOf).sort(),
				parent: request.getParent() ? nameOf(request.getParent()) : null,
				limits: {
					create: request.getCustomtimeouts()?.getCreate() ?? "",
					delete: request.getCustomtimeouts()?.getDelete() ?? "",
				},
			});
			const response = new messages.RegisterResourceResponse();
			response.setUrn(`urn:pulumi:test::mqbench::${type}::${name}`);
			if (request.getCustom()) response.setId(`${name}-id`);
			response.setObject(
				structs.Struct.fromJavaScript({
					...request.getObject()?.toJavaScript(),
					...(type === "aws:ec2/instance:Instance" && {
						publicIp: `203.0.113.${hostNumber(name)}`,
						privateIp: `10.77.0.${hostNumber(name)}`,
						...machine,
					}),
					...(type === "aws:ec2/placementGroup:PlacementGroup" && { name }),
					...(type === "aws:ec2/keyPair:KeyPair" && { keyName: name }),
				}),
			);
			answer(null, response);
		},
		registerResourceOutputs({ request }: Call, answer: Answer) {
			if (request.getUrn().includes("::pulumi:pulumi:Stack::"))
				outputs = request.getOutputs().toJavaScript();
			answer(null, new Empty());
		},
		signalAndWaitForShutdown: (_: Call, answer: Answer) => answer(null, new Empty()),
	});
	server.addService(engine.EngineService, {
		log({ request }: Call, answer: Answer) {
			if (request.getSeverity() > 0) said += `${request.getMessage()}\n`;
			answer(null, new Empty());
		},
	});
	const port = await new Promise<number>((resolve, reject) =>
		server.bindAsync(
			"127.0.0.1:0",
			grpc.ServerCredentials.createInsecure(),
			(error: Error | null, bound: number) => (error ? reject(error) : resolve(bound)),
		),
	);
	try {
		const code = await program(port, config, (text) => {
			said += text;
		});
		return { code, said, registered, outputs };
	} finally {
		server.forceShutdown();
	}
}

// --- internal ---

// biome-ignore lint/suspicious/noExplicitAny: Pulumi's messages have no types of their own.
type Call = { readonly request: any };
type Answer = (error: Error | null, response: unknown) => void;

const folder = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const grpc = require("@grpc/grpc-js");
const resources = require("@pulumi/pulumi/proto/resource_grpc_pb");
const messages = require("@pulumi/pulumi/proto/resource_pb");
const engine = require("@pulumi/pulumi/proto/engine_grpc_pb");
const structs = require("google-protobuf/google/protobuf/struct_pb");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb");

/** Of "urn:pulumi:test::mqbench::type::name". */
const nameOf = (urn: string) => urn.split("::").at(-1) ?? urn;

/** The process that Pulumi's language host starts: in the folder of `main`, with the loader that is installed there. */
async function program(
	port: number,
	config: Readonly<Record<string, string>>,
	hear: (text: string) => void,
): Promise<number | null> {
	const { main, runtime } = parse(readFileSync(path.join(folder, "Pulumi.yaml"), "utf8"));
	const file = path.join(folder, main);
	const child = spawn(
		process.execPath,
		[
			createRequire(file).resolve("@pulumi/pulumi/cmd/run"),
			"--project",
			"mqbench",
			"--stack",
			"test",
			"--parallel",
			"10",
			"--monitor",
			`127.0.0.1:${port}`,
			"--engine",
			`127.0.0.1:${port}`,
			"--root-directory",
			folder,
			"--pwd",
			path.dirname(file),
			path.basename(file),
		],
		{
			cwd: path.dirname(file),
			env: {
				PATH: process.env.PATH,
				PULUMI_CONFIG: JSON.stringify(config),
				PULUMI_NODEJS_TYPESCRIPT: String(runtime.options.typescript),
			},
			stdio: ["ignore", "pipe", "pipe"],
		},
	);
	child.stdout.on("data", (chunk) => hear(String(chunk)));
	child.stderr.on("data", (chunk) => hear(String(chunk)));
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", resolve);
	});
}
