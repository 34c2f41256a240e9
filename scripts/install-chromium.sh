#!/usr/bin/env bash
# Installs Chromium for the dashboard's tests on Debian or Ubuntu, unless a browser is installed. Needs root.
set -euo pipefail
# Test files install at the same time, and apt-get update fails where another one holds its lock: the second waits here
# and then finds what the first installed.
exec 9>/tmp/citeward-install.lock
flock 9
for name in chromium-headless-shell chromium chromium-browser google-chrome-stable google-chrome; do
  if command -v "$name" >/dev/null; then exit 0; fi
done
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# Ubuntu has no package of the shell.
apt-get install -y -q --no-install-recommends chromium-headless-shell ||
  apt-get install -y -q --no-install-recommends chromium
command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null
