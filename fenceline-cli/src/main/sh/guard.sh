#!/bin/sh
#
# guard.sh: runs a command as the leader of a process group, and ends the group when the tool dies.
#
#   sh guard.sh PIPE KEEPER COMMAND [ARGUMENT...]
#
# PIPE is a fifo that the tool holds open for writing. Each line is the name of a signal for the whole
# group: this shell, the command, and all that the command started. The end of the pipe means that the
# tool is gone without a word (SIGKILL): the group is killed. The caller makes this shell the leader of
# a group of its own: by setsid, or as a job of terminal.sh, which then is the KEEPER ("-": none). When
# the tool dies, the keeper goes first: else it would take the terminal from the user's shell.
#
# Exits as the command does, with 128 + signal if one killed it.

pipe=$1
keeper=$2
shift 2

# Opened for both first, since opening for reading alone waits for a writer, and the tool may be dead
# by now. Only the reading end stays, so that the tool's end is the only one that keeps it open.
exec 3<>"$pipe" 4<"$pipe" 3>&-

# A handler, however empty, is reset in the command, where an ignored signal would stay ignored.
trap : HUP INT QUIT TERM USR1 USR2

# This shell's own stderr is closed to it: it would report "Killed" there.
exec 5>&2 2>/dev/null

(
  # The one member of the group that outlives what it sends, a stop from the keyboard included.
  trap '' HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU
  exec 5>&- >/dev/null
  while read -r signal <&4; do
    kill -s "$signal" 0
  done
  [ "$keeper" = - ] || kill -s KILL "$keeper"
  rm -rf "${pipe%/*}"
  kill -s KILL 0
) &
listener=$!
exec 4<&-

# exec, so that a word that is a builtin of this shell still means the program.
(exec "$@" 2>&5 5>&-)
status=$?

kill -s KILL "$listener"
exit "$status"
