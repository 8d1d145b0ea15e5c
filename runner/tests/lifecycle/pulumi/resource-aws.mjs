#!/usr/bin/env node
// Stands in for Pulumi's AWS provider, which comes from Pulumi's releases alone, and for AWS: resources are entries of a JSON file
// (MQBENCH_TEST_CLOUD), machines are hosts that are there already. What goes wrong is said in the same file. Where the program names an
// emulator of AWS, the resources are made there too (ec2-calls.mjs).
//
//	{ "hosts": { "broker": [{ "public": "...", "private": "..." }], "client": [...] },
//	  "fail": { "create": "aws:ec2/instance:Instance", "times": 1 }, "resources": {} }
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ec2Calls } from "./ec2-calls.mjs";

const require = createRequire(path.join(process.env.MQBENCH_TEST_AWS, "package.json"));
const grpc = require("@grpc/grpc-js");
const { ResourceProviderService } = require("@pulumi/pulumi/proto/provider_grpc_pb.js");
const messages = require("@pulumi/pulumi/proto/provider_pb.js");
const plugin = require("@pulumi/pulumi/proto/plugin_pb.js");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb.js");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb.js");

const file = process.env.MQBENCH_TEST_CLOUD;
const cloud = () => JSON.parse(readFileSync(file, "utf8"));
function change(what) {
	const now = cloud();
	const answer = what(now);
	writeFileSync(`${file}.new`, JSON.stringify(now, null, "\t"));
	renameSync(`${file}.new`, file);
	return answer;
}
const note = (line) => appendFileSync(`${file}.log`, `${line}\n`);
const plain = (struct) => struct?.toJavaScript() ?? {};
const struct = (value) => Struct.fromJavaScript(value);
const typeOf = (urn) => urn.split("::")[2].split("$").at(-1);

/** Whether this call is one that is to go wrong; each wish is granted as often as it says. */
function fails(action, type) {
	return change((now) => {
		const wish = (now.fail ?? []).find((one) => one[action] === type && one.times > 0);
		if (wish) wish.times -= 1;
		return Boolean(wish);
	});
}

/** What AWS knows of a thing beside what it was told. */
function outputs(now, type, name, inputs, id) {
	const all = { ...inputs, id, arn: `arn:aws:test:${id}` };
	if (type === "aws:ec2/instance:Instance") {
		const kind = name.includes("broker") ? "broker" : "client";
		const index = Number(/(\d+)$/.exec(name)?.[1] ?? 1) - 1;
		const last = index + (kind === "broker" ? 1 : 101);
		const made = { public: `203.0.113.${last}`, private: `10.0.0.${last}` };
		const host = now.hosts?.[kind]?.[index] ?? made;
		Object.assign(all, {
			publicIp: host.public,
			privateIp: host.private,
			instanceState: "running",
		});
	}
	return all;
}

let cancelled = false;
/** null: there is no emulator. */
let emulator = null;
/** Nested settings come as JSON. */
const parsed = (value) => (typeof value === "string" ? JSON.parse(value) : value);
/** A gRPC method out of a function that gives its response, or throws what went wrong. */
const method = (respond) => (call, answer) => {
	respond(call.request).then(
		(response) => answer(null, response),
		(error) => answer({ code: grpc.status.UNKNOWN, message: error.message }),
	);
};
const server = new grpc.Server();
server.addService(ResourceProviderService, {
	handshake: (_, answer) => answer({ code: grpc.status.UNIMPLEMENTED, message: "none" }),
	getPluginInfo(_, answer) {
		const info = new plugin.PluginInfo();
		info.setVersion("7.48.0");
		answer(null, info);
	},
	getSchema(_, answer) {
		const response = new messages.GetSchemaResponse();
		response.setSchema("{}");
		answer(null, response);
	},
	checkConfig(call, answer) {
		const response = new messages.CheckResponse();
		response.setInputs(call.request.getNews());
		answer(null, response);
	},
	diffConfig: (_, answer) => answer(null, new messages.DiffResponse()),
	configure({ request }, answer) {
		const { region, endpoints, defaultTags } = plain(request.getArgs());
		const [{ ec2: endpoint } = {}] = parsed(endpoints) ?? [];
		if (endpoint) emulator = ec2Calls({ region, endpoint, defaultTags: parsed(defaultTags)?.tags });
		const response = new messages.ConfigureResponse();
		response.setAcceptsecrets(false);
		response.setSupportspreview(true);
		answer(null, response);
	},
	check(call, answer) {
		const response = new messages.CheckResponse();
		response.setInputs(call.request.getNews());
		answer(null, response);
	},
	diff: (_, answer) => answer(null, new messages.DiffResponse()),
	create: method(async (request) => {
		const type = typeOf(request.getUrn());
		const name = request.getUrn().split("::").at(-1);
		const inputs = plain(request.getProperties());
		const response = new messages.CreateResponse();
		if (request.getPreview()) {
			response.setProperties(struct(inputs));
			return response;
		}
		note(`create ${type} ${name}`);
		if (fails("create", type))
			throw new Error(
				`creating EC2 Instance: operation error EC2: RunInstances, exceeded maximum number of attempts, 6, https response error StatusCode: 500, RequestID: 1, api error InsufficientInstanceCapacity: We currently do not have sufficient ${inputs.instanceType} capacity in the Availability Zone you requested (${inputs.availabilityZone}). Our system will be working on provisioning additional capacity.`,
			);
		const made = (await emulator?.create(type, name, inputs)) ?? {
			id: `i-${Math.random().toString(16).slice(2, 12)}`,
		};
		const all = change((now) => {
			now.resources ??= {};
			now.resources[made.id] = { type, name, inputs };
			return { ...made, ...outputs(now, type, name, inputs, made.id) };
		});
		// A machine that never comes: until somebody cancels.
		if (fails("hang", type)) while (!cancelled) await sleep(100);
		response.setId(made.id);
		response.setProperties(struct(all));
		return response;
	}),
	read: method(async (request) => {
		const id = request.getId();
		const response = new messages.ReadResponse();
		const there = (await emulator?.read(typeOf(request.getUrn()), id)) ?? cloud().resources?.[id];
		if (there) {
			response.setId(id);
			response.setProperties(request.getProperties());
			response.setInputs(request.getInputs());
		}
		return response;
	}),
	update(call, answer) {
		const response = new messages.UpdateResponse();
		response.setProperties(call.request.getNews());
		answer(null, response);
	},
	delete: method(async (request) => {
		const type = typeOf(request.getUrn());
		const id = request.getId();
		note(`delete ${type} ${request.getUrn().split("::").at(-1)}`);
		if (fails("delete", type)) throw new Error(`deleting ${type}: DependencyViolation`);
		await emulator?.delete(type, id, plain(request.getProperties()));
		change((now) => {
			delete now.resources[id];
		});
		return new Empty();
	}),
	cancel(_, answer) {
		note("cancel");
		cancelled = true;
		answer(null, new Empty());
	},
	configureErrorMissingKeys() {},
});
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
	if (error) throw error;
	process.stdout.write(`${port}\n`);
});
