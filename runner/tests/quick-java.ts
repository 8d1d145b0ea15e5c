import { fileURLToPath } from "node:url";

/** The environment of tests that measure no latency: their brokers on Java start with less CPU (quick-java/bin/java). */
export const QUICK_JAVA = { JAVA_HOME: fileURLToPath(new URL("quick-java", import.meta.url)) };
