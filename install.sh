#!/bin/sh
# Installs brain-guard from a release: fetches the program for this machine, compares its
# checksum, and runs its `install`.
#   sh install.sh                               the programs beside it, else the latest release
#   sh install.sh URL_OR_FOLDER                 the programs and SHA256SUMS that are there
#   sh install.sh URL_OR_FOLDER --no-demo …     what follows is given to `brain-guard install`
set -eu

case ${1:-} in
-h | --help)
    # From a pipe, the text is not there to be shown.
    if [ -f "$0" ]; then sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; else
        echo "usage: sh install.sh [URL_OR_FOLDER] [OPTION OF brain-guard install]..."
    fi
    exit
    ;;
esac

latest=https://github.com/brain-guard/brain-guard/releases/latest/download
source=$latest
case ${1:-} in
'' | -*) ;;
*) source=${1%/} && shift ;;
esac

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    exit 1
}

machine=$(uname -sm)
case $machine in
'Linux x86_64') triple=x86_64-unknown-linux-musl ;;
'Linux aarch64') triple=aarch64-unknown-linux-musl ;;
'Darwin x86_64') triple=x86_64-apple-darwin ;;
'Darwin arm64') triple=aarch64-apple-darwin ;;
*) fail "there is no program for $machine; in a checkout, \`cargo xtask install\` builds one" ;;
esac
program=brain-guard-$triple
beside=${0%install.sh}
if [ "$source" = "$latest" ] && [ "$beside" != "$0" ] && [ -f "${beside}SHA256SUMS" ] && [ -f "$beside$program" ]; then
    source=$(dirname "$0")
fi

fetch() {
    case $source in
    http://* | https://*)
        if command -v curl >/dev/null 2>&1; then
            curl -fsSL --retry 3 --connect-timeout 30 --speed-limit 1 --speed-time 60 -o "$work/$1" "$source/$1"
        elif command -v wget >/dev/null 2>&1; then
            wget -nv -T 60 -t 3 -O "$work/$1" "$source/$1"
        else
            fail "neither curl nor wget is there: install one (on Debian and Ubuntu: apt-get install curl), or fetch SHA256SUMS and $program from $source and run: sh install.sh FOLDER"
        fi
        ;;
    *) cp "$source/$1" "$work/$1" ;;
    esac || fail "could not get $1 from $source$(way_out)"
}

# What helps after a failed fetch.
way_out() {
    if ! has_room; then
        echo " into $work: set TMPDIR to a folder with room"
    elif [ "$source" = "$latest" ]; then
        echo "; without a network, fetch SHA256SUMS and $program elsewhere and run: sh install.sh FOLDER"
    fi
}

# Whether there is room left: what was fetched in part is still there.
has_room() {
    dd if=/dev/zero of="$work/room" bs=1000000 count=1 2>/dev/null && rm "$work/room"
}

work=$(mktemp -d) || fail "no folder for temporary files; set TMPDIR to one that you can write in"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
fetch SHA256SUMS
fetch "$program"
line=$(grep " [ *]*$program\$" "$work/SHA256SUMS") || fail "SHA256SUMS does not name $program"
if command -v sha256sum >/dev/null 2>&1; then
    (cd "$work" && printf '%s\n' "$line" | sha256sum -c - >/dev/null 2>&1)
elif ! command -v shasum >/dev/null 2>&1; then
    fail "neither sha256sum nor shasum is there: install one (on Debian and Ubuntu: apt-get install coreutils)"
else
    (cd "$work" && printf '%s\n' "$line" | shasum -a 256 -c - >/dev/null 2>&1)
fi || fail "$program is not what SHA256SUMS says: fetch it again, or tell the people who released it"
chmod 755 "$work/$program"
"$work/$program" --version >/dev/null || fail "programs can't run in $work; set TMPDIR to another folder"
"$work/$program" install "$@"
