#!/bin/sh
# Installs, on Debian and as root, the programs that some tests run.
set -eu
apt-get install -y chromium chromium-driver
