#!/bin/sh
# Makes sure there is a Chromium for the browser tests: the system's, else Debian's package (as root), else
# Playwright's own. With none, the browser tests are skipped, and say so; under CI=true they fail.
set -u
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then exit 0; fi
done
python=.venv/bin/python
if "$python" -c 'from tests.browser import chromium; raise SystemExit(chromium() is None)'; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Debian's Chromium for the browser tests."
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null && exit 0
fi
echo "Fetching Playwright's Chromium for the browser tests."
"$python" -m playwright install chromium || echo "No Chromium: the browser tests will not run."
exit 0
