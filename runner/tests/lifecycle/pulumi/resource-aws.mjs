#!/usr/bin/env node
// Stands in for Pulumi's AWS provider, which comes from Pulumi's releases alone, and for AWS: resources are entries of a JSON file
// (MQBENCH_TEST_CLOUD), machines are hosts that are there already. What goes wrong is said in the same file.
//
//	{ "hosts": { "broker": [{ "public": "...", "private": "..." }], "client": [...] },
//	  "fail": { "create": "aws:ec2/instance:Instance", "times": 1 }, "resources": {} }
import {
	appendFileSync,
	readFileSync,
	renameSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(
	path.join(process.env.MQBENCH_TEST_AWS, "package.json"),
);
const grpc = require("@grpc/grpc-js");
const {
	ResourceProviderService,
} = require("@pulumi/pulumi/proto/provider_grpc_pb.js");
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
		const wish = (now.fail ?? []).find(
			(one) => one[action] === type && one.times > 0,
		);
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
		const host = now.hosts?.[kind]?.[index] ?? {
			public: "203.0.113.1",
			private: "10.0.0.1",
		};
		Object.assign(all, {
			publicIp: host.public,
			privateIp: host.private,
			instanceState: "running",
		});
	}
	return all;
}

let cancelled = false;
const server = new grpc.Server();
server.addService(ResourceProviderService, {
	handshake: (_, answer) =>
		answer({ code: grpc.status.UNIMPLEMENTED, message: "none" }),
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
	configure(_, answer) {
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
	create(call, answer) {
		const { request } = call;
		const type = typeOf(request.getUrn());
		const name = request.getUrn().split("::").at(-1);
		const inputs = plain(request.getProperties());
		const response = new messages.CreateResponse();
		if (request.getPreview()) {
			response.setProperties(struct(inputs));
			answer(null, response);
			return;
		}
		note(`create ${type} ${name}`);
		if (fails("create", type)) {
			answer({
				code: grpc.status.UNKNOWN,
				message: `creating EC2 Instance: operation error EC2: RunInstances, exceeded maximum number of attempts, 6, https response error StatusCode: 500, RequestID: 1, api error InsufficientInstanceCapacity: We currently do not have sufficient ${inputs.instanceType} capacity in the Availability Zone you requested (${inputs.availabilityZone}). Our system will be working on provisioning additional capacity.`,
			});
			return;
		}
		const id = `i-${Math.random().toString(16).slice(2, 12)}`;
		const made = change((now) => {
			now.resources ??= {};
			const all = outputs(now, type, name, inputs, id);
			now.resources[id] = { type, name, inputs };
			return all;
		});
		const done = () => {
			response.setId(id);
			response.setProperties(struct(made));
			answer(null, response);
		};
		// A machine that never comes: until somebody cancels.
		if (fails("hang", type)) {
			const look = setInterval(() => {
				if (!cancelled) return;
				clearInterval(look);
				done();
			}, 100);
		} else done();
	},
	read(call, answer) {
		const { request } = call;
		const response = new messages.ReadResponse();
		if (cloud().resources?.[request.getId()]) {
			response.setId(request.getId());
			response.setProperties(request.getProperties());
			response.setInputs(request.getInputs());
		}
		answer(null, response);
	},
	update(call, answer) {
		const response = new messages.UpdateResponse();
		response.setProperties(call.request.getNews());
		answer(null, response);
	},
	delete(call, answer) {
		const { request } = call;
		const type = typeOf(request.getUrn());
		note(`delete ${type} ${request.getUrn().split("::").at(-1)}`);
		if (fails("delete", type)) {
			answer({
				code: grpc.status.UNKNOWN,
				message: `deleting ${type}: DependencyViolation`,
			});
			return;
		}
		change((now) => {
			delete now.resources[request.getId()];
		});
		answer(null, new Empty());
	},
	cancel(_, answer) {
		note("cancel");
		cancelled = true;
		answer(null, new Empty());
	},
	configureErrorMissingKeys() {},
});
server.bindAsync(
	"127.0.0.1:0",
	grpc.ServerCredentials.createInsecure(),
	(error, port) => {
		if (error) throw error;
		process.stdout.write(`${port}\n`);
	},
);
