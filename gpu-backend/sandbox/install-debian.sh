#!/usr/bin/env bash
# What the equivalence judge needs inside the development sandbox on Debian or Ubuntu: SymPy for /usr/bin/python3.
# Does nothing where it is already there. Needs root.
set -euo pipefail
# Test files install at the same time, and apt-get update fails where another one holds its lock: the second waits here
# and then finds what the first installed.
exec 9>/tmp/citeward-install.lock
flock 9
if /usr/bin/python3 -I -c 'import sympy' 2>/dev/null; then exit 0; fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends python3 python3-sympy
/usr/bin/python3 -I -c 'import sympy'
