import { redis as options } from "./options.ts";
import { redis, redisInDocker, redisOnHosts } from "./process.ts";

const process = { local: redis, docker: redisInDocker, hosts: redisOnHosts };

export const room = { ...options, process };
