#!/bin/sh
# Within `npm run acceptance`: tests with the tag "long", then what is here, the drivers' long tests beside both, and last alone/, with
# nothing else running. A test that is skipped fails, and is named with its reason.
export CI=true
here="npx vitest run --config runner/tests/acceptance/vitest.config.ts"
# Drivers' tests mostly wait for their brokers, which have process groups of their own, but the same session.
setsid sh extensions/test.sh acceptance & drivers=$!
trap 'pkill -KILL -s $drivers' EXIT
trap 'exit 130' INT TERM
# Only files that have one: to load all of them takes two minutes of a core.
npx vitest run --config runner/vitest.config.ts --tags-filter=long $(grep -rl '"long"' --include='*.test.ts' --exclude-dir=node_modules runner infra)
long=$?
$here --project "side by side"
side=$?
wait $drivers
drivers_ended=$?
$here --project alone && [ "$long $side $drivers_ended" = "0 0 0" ]
