#!/bin/sh
# From TorchScript to a program that reads a raw image, each stage shown:
#   TorchScript -> graph -> optimised graph -> weights and C -> program
# usage: run.sh FOLDER        HONE: the hone command; PYTHON: one with torch, scikit-learn and onnx
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
hone=${HONE:-$here/../../build/hone}
python=${PYTHON:-python3}
export PYTHONPATH="$here/../../python${PYTHONPATH:+:$PYTHONPATH}"
mkdir -p "$folder"

echo "== TorchScript: digits.pt"
[ -f "$folder/digits.pt" ] || "$python" "$here/train.py" "$folder"

echo "== ONNX: digits.onnx"
"$python" -m hone export "$folder/digits.pt" -o "$folder/digits.onnx" --input 1x1x8x8

echo "== graph: graph.hg"
"$hone" compile "$folder/digits.onnx" -o "$folder/digits.c" --stop-after import --dump-after import >"$folder/graph.hg"
grep -c ' = ' "$folder/graph.hg" | sed 's/$/ lines of nodes/'

echo "== optimised graph: optimised.hg"
"$hone" compile "$folder/digits.onnx" -o "$folder/digits.c" --stop-after fuse-edges --dump-after fuse-edges \
  >"$folder/optimised.hg"
grep -c ' = ' "$folder/optimised.hg" | sed 's/$/ lines of nodes/'

echo "== weights and C: digits.weights, digits.c"
"$hone" compile "$folder/digits.onnx" -o "$folder/digits.c" 2>/dev/null
wc -c "$folder/digits.weights" "$folder/digits.c" | sed '$d'

echo "== program: digits"
"$hone" compile "$folder/digits.onnx" -o "$folder/digits" 2>/dev/null

echo "== held-out images"
"$python" "$here/classify.py" "$folder/digits" "$folder"
