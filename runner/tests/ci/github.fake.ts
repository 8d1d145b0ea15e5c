import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readAll } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** For tests: the part of GitHub's API that comments of pull requests need, for one repository. */
export interface GitHub {
	readonly url: string;
	/** "GET /repos/o/r/pulls/7", in their order. */
	readonly requests: string[];
	readonly comments: Comment[];
	/** What is answered before anything else: an HTTP status each, 0 to hang up, and whether it is done all the same. */
	readonly failures: { status: number; done?: boolean; on?: string }[];
	readonly pulls: Map<number, Pull>;
}

export interface Pull {
	readonly sha: string;
	/** Id of the repository that its head is in; null: deleted. */
	readonly repository: number | null;
}

export interface Comment {
	readonly id: number;
	readonly issue: number;
	readonly user: { readonly login: string };
	body: string;
}

export const TOKEN = "a-token-of-the-test";
export const REPOSITORY = "acme/shop";

export async function fakeGitHub(): Promise<GitHub> {
	const requests: string[] = [];
	const comments: Comment[] = [];
	const failures: GitHub["failures"] = [];
	const pulls = new Map<number, Pull>();
	const server: Server = createServer(async (request, response) => {
		const text = await readAll(request);
		const url = new URL(request.url ?? "", "http://x");
		const line = `${request.method} ${url.pathname}`;
		requests.push(line);
		const failing = failures.findIndex(({ on }) => line.includes(on ?? ""));
		const failure = failing < 0 ? null : failures.splice(failing, 1)[0];
		const answer = (status: number, value: unknown) => {
			if (failure?.status === 0) return void request.socket.destroy();
			response.writeHead(failure?.status ?? status, { "content-type": "application/json" });
			response.end(JSON.stringify(value));
		};
		if (request.headers.authorization !== `Bearer ${TOKEN}`)
			return answer(401, { message: "Bad credentials" });
		if (failure && !failure.done) return answer(500, { message: "unhappy" });
		const base = `/repos/${REPOSITORY}`;
		const body = () => {
			const { body } = JSON.parse(text) as { body: string };
			return [...body].length > 65_536 ? null : body;
		};
		const shown = (comment: Comment) => ({
			...comment,
			html_url: `https://github.test/c/${comment.id}`,
		});
		const pull = line.match(`^GET ${base}/pulls/(\\d+)$`)?.[1];
		const list = line.match(`^(GET|POST) ${base}/issues/(\\d+)/comments$`);
		const one = line.match(`^PATCH ${base}/issues/comments/(\\d+)$`)?.[1];
		if (pull) {
			const found = pulls.get(Number(pull));
			if (!found) return answer(404, { message: "Not Found" });
			return answer(200, {
				number: Number(pull),
				head: { sha: found.sha, repo: found.repository === null ? null : { id: found.repository } },
			});
		}
		if (list?.[1] === "GET") {
			const per = Number(url.searchParams.get("per_page"));
			const from = (Number(url.searchParams.get("page")) - 1) * per;
			const all = comments.filter(({ issue }) => `${issue}` === list[2]);
			return answer(200, all.slice(from, from + per).map(shown));
		}
		const written = body();
		if (written === null) return answer(422, { message: "Body is too long (maximum is 65536)" });
		if (list) {
			const comment = {
				id: 1000 + comments.length,
				issue: Number(list[2]),
				user: { login: "github-actions[bot]" },
				body: written,
			};
			comments.push(comment);
			return answer(201, shown(comment));
		}
		const old = comments.find(({ id }) => `${id}` === one);
		if (!old) return answer(404, { message: "Not Found" });
		old.body = written;
		return answer(200, shown(old));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}`, requests, comments, failures, pulls };
}
