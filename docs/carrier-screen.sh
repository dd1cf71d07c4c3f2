#!/bin/sh
# A carrier for GNU screen: presses the chord that clears, in the client's own window.
# In ~/.claude/brain-guard/settings.json:
#   {"boundary": {"carrier": "command", "command": ["/path/to/carrier-screen.sh"]}}
#
# Exit 0: the keys were sent. 75: not now, ask again. Anything else: this is no way.
plan=$(cat)
field() { printf %s "$plan" | sed -n "s/.*\"$1\":\"\\{0,1\\}\\([^\",}]*\\).*/\\1/p"; }

[ "$(field action)" = clear ] || exit 1
# The client's own variables: the screen session and the window in it.
[ -n "$STY" ] && [ -n "$WINDOW" ] || exit 1
keys=$(field keys) # ctrl+] ctrl+]
[ -n "$keys" ] || exit 1 # no chord is bound: nothing is typed blindly

# The proof: the client descends from that very session's process.
pid=$(field pid)
while [ "$pid" != "${STY%%.*}" ]; do
    pid=$(ps -o ppid= -p "$pid" | tr -d ' ')
    [ "${pid:-1}" -gt 1 ] || exit 1
done

# screen writes ctrl+] as ^].
exec screen -S "$STY" -p "$WINDOW" -X stuff "$(printf %s "$keys" | sed 's/ctrl+/^/g; s/ //g')"
