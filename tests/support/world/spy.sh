#!/bin/sh
# Writes each hook event from stdin to its own file in $E2E_SPY. Denies the tool that the file "deny" next to
# this script names.
here=$(dirname "$0")
part=$(mktemp "$E2E_SPY/part.XXXXXX") || exit 0
cat >"$part"
mv "$part" "$E2E_SPY/$(date +%s%N)-$$.json"
if test -f "$here/deny" && test "$1" = PreToolUse; then
    tool=$(head -n 1 "$here/deny")
    grep -q "\"tool_name\":\"$tool\"" "$E2E_SPY"/*-$$.json && tail -n +2 "$here/deny"
fi
exit 0
