#!/usr/bin/env node
// Stands in for pulumi-language-nodejs, which comes with Pulumi's releases alone: starts a compiled Node program as that does, with
// Pulumi's own launcher (@pulumi/pulumi/cmd/run) out of the project's node_modules.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.env.MQBENCH_TEST_AWS, "package.json"));
const grpc = require("@grpc/grpc-js");
const { LanguageRuntimeService } = require("@pulumi/pulumi/proto/language_grpc_pb.js");
const messages = require("@pulumi/pulumi/proto/language_pb.js");
const plugin = require("@pulumi/pulumi/proto/plugin_pb.js");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb.js");

// Behind the options of the real one stands the engine's address.
const engine = process.argv.slice(2).findLast((word) => !word.startsWith("-"));

const server = new grpc.Server();
server.addService(LanguageRuntimeService, {
	handshake: (_, answer) => answer(null, new messages.LanguageHandshakeResponse()),
	getPluginInfo(_, answer) {
		const info = new plugin.PluginInfo();
		info.setVersion("3.248.0");
		answer(null, info);
	},
	getRequiredPlugins: (_, answer) => answer(null, new messages.GetRequiredPluginsResponse()),
	getRequiredPackages: (_, answer) => answer(null, new messages.GetRequiredPackagesResponse()),
	cancel: (_, answer) => answer(null, new Empty()),
	run({ request }, answer) {
		const info = request.getInfo();
		const config = Object.fromEntries(request.getConfigMap().toObject());
		// Node finds @pulumi/pulumi from the program, as npm has installed it.
		const program = path.join(
			info.getProgramDirectory(),
			path.dirname(info.getEntryPoint()),
			"x.js",
		);
		const pulumi = path.dirname(createRequire(program).resolve("@pulumi/pulumi/package.json"));
		const words = {
			monitor: request.getMonitorAddress(),
			engine,
			organization: request.getOrganization(),
			project: request.getProject(),
			stack: request.getStack(),
			pwd: request.getPwd(),
			parallel: String(request.getParallel()),
		};
		const args = [
			path.join(pulumi, "cmd", "run"),
			...Object.entries(words).flatMap(([name, value]) => [`--${name}`, value]),
			...(request.getDryrun() ? ["--dry-run"] : []),
			info.getEntryPoint(),
		];
		const child = spawn(process.execPath, args, {
			cwd: info.getProgramDirectory(),
			env: {
				...process.env,
				PULUMI_CONFIG: JSON.stringify(config),
				PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
			},
			stdio: ["ignore", "inherit", "inherit"],
		});
		child.on("exit", (code) => {
			const response = new messages.RunResponse();
			if (code === 32) response.setBail(true);
			else if (code !== 0) response.setError(`the program exited with ${code}`);
			answer(null, response);
		});
	},
});
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
	if (error) throw error;
	process.stdout.write(`${port}\n`);
});
