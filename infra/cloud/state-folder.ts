import { homedir } from "node:os";
import path from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** The folder in which mqbench remembers what it has rented: MQBENCH_STATE_DIR, otherwise the user's folder for state. */
export function stateFolder(env: Env, platform: string): string {
	if (env.MQBENCH_STATE_DIR) return path.resolve(env.MQBENCH_STATE_DIR);
	const home = env.HOME || homedir();
	if (platform === "win32")
		return path.join(env.LOCALAPPDATA || path.join(home, "AppData", "Local"), "mqbench", "State");
	if (platform === "darwin") return path.join(home, "Library", "Application Support", "mqbench");
	const xdg = env.XDG_STATE_HOME;
	// The XDG specification says to ignore relative paths.
	return path.join(
		xdg && path.isAbsolute(xdg) ? xdg : path.join(home, ".local", "state"),
		"mqbench",
	);
}
