import { fileURLToPath } from "node:url";

/** The environment of all tests but acceptance/alone/: brokers on Java take less CPU (quick-java/bin/java). */
export const QUICK_JAVA = { JAVA_HOME: fileURLToPath(new URL("quick-java", import.meta.url)) };
