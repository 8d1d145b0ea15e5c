import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { BrokerName } from "../brokers/index.ts";
import { failure } from "../errors.ts";
import { packageFolder } from "../package.ts";
import { reasonOf } from "../reason.ts";
import type { World } from "../world.ts";

const EXTENSIONS = path.join(packageFolder, "extensions");
const MODULES = "github.com/mqbench/mqbench/extensions/examples";
/** A driver that is compiled and tested as it is. */
const TEMPLATE = "mybroker";

/** Writes the template under another name, and returns its folder, relative to the current one. */
export async function writeDriver(name: string, { cwd }: Pick<World, "cwd">): Promise<string> {
	const usage = (message: string) => failure("usage", { message });
	const folder = `xk6-${name}`;
	const from = path.join(EXTENSIONS, "examples", `xk6-${TEMPLATE}`);
	const to = path.resolve(cwd, folder);
	// Also Go's name of the package.
	if (!/^[a-z][a-z0-9]{0,30}$/.test(name))
		throw usage(`${name}: a driver's name has lowercase letters and digits, e.g. ${TEMPLATE}`);
	if (BrokerName.safeParse(name).success)
		throw usage(`mqbench has the driver ${name} already; give another name`);
	if (existsSync(to)) throw usage(`${folder} exists already and stays as it is; give another name`);
	const inside = !path.relative(cwd, packageFolder).startsWith("..");
	const contract = path.join(inside ? path.relative(to, EXTENSIONS) : EXTENSIONS, "xk6-mqbench");
	try {
		await mkdir(to);
		const all = await readdir(from, { withFileTypes: true });
		for (const { name: file } of all.filter((one) => one.isFile())) {
			const text = await readFile(path.join(from, file), "utf8");
			const renamed = text
				.replaceAll(MODULES, "example.com")
				.replaceAll("My Broker", name)
				.replaceAll(TEMPLATE, name)
				.replace("=> ../../xk6-mqbench", () => `=> ${JSON.stringify(contract)}`);
			await writeFile(path.join(to, file.replace(TEMPLATE, name)), renamed);
		}
	} catch (error) {
		throw failure("scenario-unwritable", { path: folder, reason: reasonOf(error) });
	}
	return folder;
}
