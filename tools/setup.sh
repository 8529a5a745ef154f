#!/bin/sh
# Finds what hone needs and installs what is missing: with apt-get as root, else it prints the one command
# that does and stops, before anything is compiled.
#   setup.sh build | test | page    programs and libraries: to build, to test, to test all of it and faster (optional)
#   setup.sh python DIR             a virtual environment with the pinned packages of tests/requirements.txt, and the
#                                   libraries of tests/libraries.txt, whose tests are left out where they cannot be had
set -eu
CC=${CC:-cc} # a command with its first arguments, as in Makefile: "ccache gcc"

have_program() { command -v "$1" >/dev/null 2>&1; }
have_library() { have_program pkg-config && pkg-config --exists "$1"; }
have_cmocka() { have_library cmocka || echo '#include <cmocka.h>' | cc -include stdarg.h -include stddef.h \
  -include stdint.h -include setjmp.h -fsyntax-only -x c - 2>/dev/null; }
have_venv() { have_program python3 && python3 -c 'import ensurepip, venv' 2>/dev/null; }
have_browser() { have_program chromium || have_program chromium-browser || have_program google-chrome; }

# Missing packages of Debian 12, one check a line.
missing_build() {
  have_program "${CC%% *}" || have_program gcc || echo gcc
  echo '#include <stdlib.h>' | $CC -fsyntax-only -x c - 2>/dev/null || echo libc6-dev
  have_program ar || echo binutils
  have_program pkg-config || echo pkg-config
  have_library jansson || echo libjansson-dev
  have_library sqlite3 || echo libsqlite3-dev
  have_library libxxhash || echo libxxhash-dev
  have_library libcrypto || echo libssl-dev
  have_library libmicrohttpd || echo libmicrohttpd-dev
  have_library libpq || echo libpq-dev
  have_venv || echo python3-venv
}
missing_test() {
  missing_build
  have_cmocka || echo libcmocka-dev
  have_program g++ || echo g++
}
missing_page() {
  have_browser || echo chromium
  have_program ccache || echo ccache
}

can_install() { have_program apt-get && [ "$(id -u)" = 0 ]; }

install_packages() { # PURPOSE PACKAGE...
  purpose=$1
  shift
  echo "missing to $purpose: $*" >&2
  if ! can_install; then
    echo "run this, then the same command again:" >&2
    echo "  sudo apt-get install -y $*" >&2
    return 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  wait="-o DPkg::Lock::Timeout=300" # another installation may be under way
  apt-get $wait update -qq && apt-get $wait install -y -qq --no-install-recommends "$@" >&2
}

pip_install() { # DIR WORD...
  python=$1/bin/python
  shift
  "$python" -m pip install --quiet --no-input --disable-pip-version-check "$@"
}

make_python() { # DIR
  tests=$(dirname "$0")/../tests
  cat "$tests/requirements.txt" "$tests/libraries.txt" | cmp -s - "$1/requirements.txt" && return 0
  echo "making $1 with the packages of tests/requirements.txt" >&2
  python3 -m venv --clear "$1"
  pip_install "$1" -r "$tests/requirements.txt"
  pip_install "$1" --no-deps -r "$tests/libraries.txt" || echo "going on without tests/libraries.txt" >&2
  cat "$tests/requirements.txt" "$tests/libraries.txt" >"$1/requirements.txt"
}

case ${1:-} in
  build | test)
    missing=$("missing_$1" | tr '\n' ' ')
    # one command that installs everything that is missing
    if [ "$1" = test ] && [ -n "$missing" ] && ! can_install; then missing="$missing$(missing_page)"; fi
    [ -z "$missing" ] || install_packages "$1" $missing
    ;;
  page)
    missing=$(missing_page)
    [ -z "$missing" ] || install_packages "open the report's page in a browser and to keep compiled objects (tests are left out or slower)" $missing ||
      echo "going on without" >&2
    ;;
  python) make_python "$2" ;;
  *)
    sed -n 's/^# *//p' "$0" | head -6 >&2
    exit 2
    ;;
esac
