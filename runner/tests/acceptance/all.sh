#!/bin/sh
# Within `npm run acceptance`: the long tests of e2e, and then what is here. A test that is skipped fails, and is named with its reason.
export CI=true
npx vitest run --config runner/vitest.config.ts --project e2e --tags-filter=long
e2e=$?
npx vitest run --config runner/tests/acceptance/vitest.config.ts && exit "$e2e"
