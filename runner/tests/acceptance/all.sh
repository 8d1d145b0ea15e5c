#!/bin/sh
# Within `npm run acceptance`: tests with the tag "long", and then what is here. A test that is skipped fails, and is named with its reason.
export CI=true
npx vitest run --config runner/vitest.config.ts --tags-filter=long
long=$?
npx vitest run --config runner/tests/acceptance/vitest.config.ts && exit "$long"
