#!/usr/bin/env bash
# Installs Chromium for the dashboard's tests on Debian or Ubuntu, unless a browser is installed. Needs root.
set -euo pipefail
for name in chromium chromium-browser google-chrome-stable google-chrome; do
  if command -v "$name" >/dev/null; then exit 0; fi
done
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends chromium
command -v chromium >/dev/null
