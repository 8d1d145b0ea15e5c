#!/bin/sh
# Both halves of `npm test` at once: most of its time each waits for brokers. What Go says comes at the end.
set -u
said=$(mktemp)
trap 'kill "$go" 2>/dev/null; rm -f "$said"' EXIT
trap 'exit 130' INT TERM
npm run go >"$said" 2>&1 &
go=$!
npm run unit
unit=$?
wait "$go"
went=$?
cat "$said"
exit $((unit != 0 || went != 0))
