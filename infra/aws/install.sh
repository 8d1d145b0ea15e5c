#!/bin/sh
# The packages of the Pulumi project, for its tests and for the types of what talks to AWS: only when they are not those of the lock file.
cd "$(dirname "$0")" || exit
[ node_modules/.package-lock.json -nt package-lock.json ] || exec npm ci
