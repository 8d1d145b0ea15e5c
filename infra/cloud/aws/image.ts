import type { Image as AwsImage } from "@aws-sdk/client-ec2";
import { type Api, allPages, type Refused } from "./api.ts";

/** The image that machines start from. */
export interface Image {
	readonly id: string;
	/** "debian-12-amd64-20251112-2294". */
	readonly name: string;
	/** In AWS's words: "x86_64". */
	readonly architecture: string;
	readonly state: string;
	/** Size of its disk; null: AWS does not say. */
	readonly disk: { readonly sizeGiB: number } | null;
	/** It costs nothing besides the machine. The prices of Linux apply to such images. */
	readonly free: boolean;
	/** It is Debian's own: cloud-init runs the user data, by which its machines end themselves. */
	readonly runsUserData: boolean;
	readonly windows: boolean;
}

/** Debian's account at AWS, which publishes its images (https://wiki.debian.org/Cloud/AmazonEC2Image). */
const DEBIAN = "136693071363";

/**
 * The newest Debian 12: the one in AWS's public parameter, or, if that cannot be read, found by the name of Debian's images. null: there is
 * none. Throws a `Refused`.
 */
export async function newestDebian(api: Api, architecture: string): Promise<Image | null> {
	const word = architecture === "x86_64" ? "amd64" : "arm64";
	const id = await publicParameter(api, `/aws/service/debian/release/12/latest/${word}`);
	const named = id === null ? null : await imageOf(api, id);
	if (named !== null) return named;
	const pages = await allPages((token) =>
		api.ec2.describeImages({
			...token,
			Owners: [DEBIAN],
			Filters: [
				{ Name: "name", Values: [`debian-12-${word}-*`] },
				{ Name: "architecture", Values: [architecture] },
				{ Name: "state", Values: ["available"] },
			],
		}),
	);
	const newest = pages
		.flatMap(({ Images = [] }) => Images)
		.sort((a, b) => (a.CreationDate ?? "").localeCompare(b.CreationDate ?? ""))
		.at(-1);
	return newest ? parse(newest) : null;
}

/** null: the caller has no access to an image with that id. Throws a `Refused`. */
export async function imageOf(api: Api, id: string): Promise<Image | null> {
	const { Images = [] } = await api.ec2
		.describeImages({ ImageIds: [id] })
		.catch((error: Refused) => {
			if (/^InvalidAMIID/.test(error.code)) return { Images: [] };
			throw error;
		});
	const [image] = Images;
	return image ? parse(image) : null;
}

// --- internal ---

/** null: it cannot be read, and Debian's images are found in another way. */
async function publicParameter(api: Api, name: string): Promise<string | null> {
	try {
		const { Parameter } = await api.ssm.getParameter({ Name: name });
		return Parameter?.Value ?? null;
	} catch (error) {
		const { code, forbidden } = error as Refused;
		if (code === "ParameterNotFound" || forbidden) return null;
		throw error;
	}
}

function parse(image: AwsImage): Image {
	const disk = image.BlockDeviceMappings?.find(
		({ DeviceName }) => DeviceName === image.RootDeviceName,
	)?.Ebs;
	return {
		id: image.ImageId as string,
		name: image.Name ?? "",
		architecture: image.Architecture ?? "",
		state: image.State ?? "",
		disk: disk?.VolumeSize === undefined ? null : { sizeGiB: disk.VolumeSize },
		free:
			(image.UsageOperation ?? "RunInstances") === "RunInstances" &&
			(image.ProductCodes ?? []).length === 0,
		runsUserData: image.OwnerId === DEBIAN,
		windows: /^windows$/i.test(image.Platform ?? ""),
	};
}
