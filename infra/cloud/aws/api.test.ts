import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { fakeWorld } from "../../../runner/world.fake.ts";
import { type Api, openApi, Refused } from "./api.ts";

/** AWS, as one listener has it. */
async function api(
	listen: RequestListener,
	stop = new AbortController().signal,
	region = "eu-central-1",
): Promise<Api> {
	const server = createServer(listen);
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	return openApi(
		{ region, profile: null },
		fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: `http://127.0.0.1:${port}` }, stop }),
	);
}

const answering =
	(status: number, code: string, message: string): RequestListener =>
	(_, response) =>
		response
			.writeHead(status)
			.end(
				`<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>1</RequestID></Response>`,
			);

test("a refusal names the call as IAM does, and leaves AWS's blob out", async () => {
	const { ec2 } = await api(
		answering(
			403,
			"UnauthorizedOperation",
			"You are not authorized to perform this operation. Encoded authorization failure message: c2VjcmV0",
		),
	);
	const error = await ec2.describeVpcs({}).catch((error) => error);
	expect(error).toBeInstanceOf(Refused);
	expect(error).toMatchObject({
		call: "ec2:DescribeVpcs",
		code: "UnauthorizedOperation",
		message: "You are not authorized to perform this operation",
		forbidden: true,
	});
});

test("what AWS cannot do now is tried again, and then named", async () => {
	let calls = 0;
	const { ec2 } = await api((request, response) => {
		calls++;
		answering(503, "Unavailable", "busy")(request, response);
	});
	await expect(ec2.describeVpcs({})).rejects.toMatchObject({
		call: "ec2:DescribeVpcs",
		code: "Unavailable",
		forbidden: false,
	});
	expect(calls).toBe(3);
});

test("Ctrl-C ends a call that AWS never answers", async () => {
	const controller = new AbortController();
	const { ec2 } = await api(() => controller.abort("SIGINT"), controller.signal);
	await expect(ec2.describeVpcs({})).rejects.toMatchObject({
		code: "interrupted",
		message: "Stopped by SIGINT.",
	});
});

test("the SDK has nothing of its own to tell people", async () => {
	const warned = vi.spyOn(process, "emitWarning");
	const { ec2 } = await api(answering(400, "Wrong", "as the test wants"));
	await ec2.describeVpcs({}).catch(() => {});
	expect(warned.mock.calls).toEqual([]);
});

test.each([
	["eu-central-1", "us-east-1"],
	["us-gov-east-1", "us-gov-west-1"],
	["cn-northwest-1", "cn-north-1"],
])("a caller of %s is asked about in %s", async (region, home) => {
	const signed: string[] = [];
	const { home: asked } = await api(
		(request, response) => {
			signed.push(request.headers.authorization ?? "");
			answering(400, "Wrong", "as the test wants")(request, response);
		},
		undefined,
		region,
	);
	await asked.sts.getCallerIdentity({}).catch(() => {});
	expect(asked.region).toBe(home);
	expect(signed[0]).toContain(`/${home}/sts/`);
});

test.each(["localhost:5000", "aws", "ftp://127.0.0.1"])(
	"%s is no address of an emulator",
	async (endpoint) => {
		await expect(
			openApi(
				{ region: "eu-central-1", profile: null },
				fakeWorld({ env: { MQBENCH_AWS_ENDPOINT: endpoint } }),
			),
		).rejects.toMatchObject({
			exit: 2,
			message: expect.stringContaining(
				`MQBENCH_AWS_ENDPOINT=${endpoint}: write the URL of an emulator of AWS, such as http://127.0.0.1:5000, or unset it`,
			),
		});
	},
);
