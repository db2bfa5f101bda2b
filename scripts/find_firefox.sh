#!/bin/sh
# Makes sure there is a Firefox for the test of the site: the system's, else Debian's package (as root). With none, that
# test is skipped, and says so.
set -u
for name in firefox-esr firefox; do
    if command -v "$name" >/dev/null; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Debian's Firefox for the tests of the site."
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends firefox-esr >/dev/null &&
        exit 0
fi
echo "No Firefox: the tests of the site in it will not run."
exit 0
