import type { Image as AwsImage } from "@aws-sdk/client-ec2";
import { type Api, allPages } from "./api.ts";

/** The image that machines start from. */
export interface Image {
	readonly id: string;
	/** "debian-12-amd64-20251112-2294". */
	readonly name: string;
	/** It costs nothing besides the machine. The prices of Linux apply to such images. */
	readonly free: boolean;
	/** It is Debian's own: cloud-init runs the user data, by which its machines end themselves. */
	readonly runsUserData: boolean;
}

/** The newest Debian 12 for such a platform, or the image of that id. null: there is none. Throws a `Refused`. */
export async function imageFor(
	api: Api,
	ami: string | null,
	platform: string,
): Promise<Image | null> {
	const word = platform === "linux/arm64" ? "arm64" : "amd64";
	const Filters = [
		{ Name: "name", Values: [`debian-12-${word}-*`] },
		{ Name: "state", Values: ["available"] },
	];
	const pages = await allPages((token) =>
		ami === null
			? api.ec2.describeImages({ ...token, Owners: [DEBIAN], Filters })
			: api.ec2.describeImages({ ...token, ImageIds: [ami] }),
	);
	const newest = pages
		.flatMap(({ Images = [] }) => Images)
		.sort((a, b) => (a.CreationDate ?? "").localeCompare(b.CreationDate ?? ""))
		.at(-1);
	return newest ? parse(newest) : null;
}

// --- internal ---

/** Debian's account at AWS, which publishes its images (https://wiki.debian.org/Cloud/AmazonEC2Image). */
const DEBIAN = "136693071363";

function parse(image: AwsImage): Image {
	return {
		id: image.ImageId as string,
		name: image.Name ?? "",
		free:
			(image.UsageOperation ?? "RunInstances") === "RunInstances" &&
			(image.ProductCodes ?? []).length === 0,
		runsUserData: image.OwnerId === DEBIAN,
	};
}
