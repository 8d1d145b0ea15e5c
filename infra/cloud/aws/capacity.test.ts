import { expect, test } from "vitest";
import { noRoom } from "./capacity.ts";

// As AWS, and Pulumi's provider behind it, have been seen to write them.
test.each([
	[
		"creating EC2 Instance: operation error EC2: RunInstances, exceeded maximum number of attempts, 6, https response error StatusCode: 500, RequestID: 78d, api error InsufficientInstanceCapacity: We currently do not have sufficient i4i.metal capacity in the Availability Zone you requested (us-west-2a). Our system will be working on it.",
		"InsufficientInstanceCapacity",
		"We currently do not have sufficient i4i.metal capacity in the Availability Zone you requested (us-west-2a)",
	],
	[
		"waiting for EC2 Instance (i-1) create: unexpected state 'terminated', wanted target 'running'. last error: Server.InsufficientInstanceCapacity: Insufficient capacity to satisfy instance request",
		"InsufficientInstanceCapacity",
		"Insufficient capacity to satisfy instance request",
	],
	[
		"api error Unsupported: Your requested instance type (i4i.xlarge) is not supported in your requested Availability Zone (us-east-1e). Please retry",
		"Unsupported",
		"Your requested instance type (i4i.xlarge) is not supported in your requested Availability Zone (us-east-1e)",
	],
	["api error InsufficientVolumeCapacity: no io2", "InsufficientVolumeCapacity", "no io2"],
	["api error UnfulfillableCapacity: no spot", "UnfulfillableCapacity", "no spot"],
])("%s is an answer that another zone may not give", (words, code, reason) =>
	expect(noRoom(words)).toEqual({ code, words: reason }),
);

test.each([
	"api error VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows",
	"api error MaxSpotInstanceCountExceeded: Max spot instance count exceeded",
	"api error Unsupported: The requested configuration is currently not supported",
	"api error UnauthorizedOperation: You are not authorized",
])("%s is the same in every zone", (words) => expect(noRoom(words)).toBe(null));
