import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { redis as options } from "./options.ts";
import { redis as process } from "./process.ts";

export const redis = { ...options, program: null, title: "Redis", process, image, install, omb };
