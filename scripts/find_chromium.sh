#!/bin/sh
# Makes sure there is a Chromium for the browser tests: Debian's headless shell (as root; the same engine without windows,
# which takes a tenth less of the processor), else the system's Chromium, else Playwright's own. With none, the browser
# tests are skipped, and say so; under CI=true they fail.
set -u
if command -v chromium-headless-shell >/dev/null; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Debian's headless Chromium for the browser tests."
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell >/dev/null && exit 0
fi
python=.venv/bin/python
if "$python" -c 'from tests.browser import chromium; raise SystemExit(chromium() is None)'; then exit 0; fi
echo "Fetching Playwright's Chromium for the browser tests."
"$python" -m playwright install chromium || echo "No Chromium: the browser tests will not run."
exit 0
