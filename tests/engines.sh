#!/usr/bin/env bash
# Installs the engines in which the tests run what is exported, where it can: Debian's
# packages if this is root, and what comes from npm into .venv. What is missing
# afterwards is said in a sentence, and its tests are skipped; with CI=true they fail.
set -u
cd "$(dirname "$0")/.."

packages=()
need() { # COMMAND PACKAGE...: what provides a command that is not there
  command -v "$1" >/dev/null 2>&1 || packages+=("${@:2}")
}
need java default-jre-headless
need node nodejs npm
need swipl swi-prolog-nox
need soffice libreoffice-calc-nogui
need xelatex texlive-xetex
need pdftotext poppler-utils
need chromedriver chromium chromium-driver
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || packages+=(postgresql)

if [ ${#packages[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing ${packages[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
      apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
  else
    echo "not installed: ${packages[*]}; tests that need them are skipped"
  fi
fi

if [ ! -d .venv/engines/node_modules ] && command -v npm >/dev/null; then
  npm install --silent --no-fund --no-audit --prefix .venv/engines \
    @kie-tools/jitexecutor-native dmn-moddle feelin ||
    echo "not installed: the DMN engine; tests that need it are skipped"
fi
exit 0
