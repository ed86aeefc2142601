#!/bin/sh
#
# guard.sh: runs a command, where the tool can find it and all that it starts.
#
#   sh guard.sh FOLDER KEEPER COMMAND [ARGUMENT...]
#
# The caller makes this shell the leader of a session of its own (setsid; KEEPER is "-"), or of a group, as
# a job of terminal.sh, which then is the KEEPER. FOLDER is explained in watchdog.sh, which ends this shell,
# the command, and all that the command started.
#
# Without a keeper this shell stays and waits for the command, exits as that does (with 128 + signal if one
# killed it), and leaves the status in 'ended' in FOLDER: otherwise the tool knows that this shell itself
# was killed, and has the rest ended. With one it becomes the command, which so leads the group that has
# the terminal: Ctrl-C also reaches a command that makes itself such a leader (timeout). The keeper waits.

# An assignment to a variable that the user has exported would be seen by the command: these names are
# ours alone, and not exported.
unset _fenceline_folder _fenceline_mark _fenceline_keeper _fenceline_stat _fenceline_armed \
  _fenceline_early _fenceline_status
_fenceline_folder=$1
_fenceline_keeper=$2
shift 2

# A handler, however empty, is reset in the command, where an ignored signal would stay ignored.
if [ "$_fenceline_keeper" = - ]; then
  trap : QUIT ABRT ALRM PIPE USR1 USR2 TRAP SYS PROF VTALRM XCPU XFSZ
  trap '_fenceline_early=129' HUP
  trap '_fenceline_early=130' INT
  trap '_fenceline_early=143' TERM
fi

# This shell's own stderr is closed to it: it would report "Killed" there.
exec 5>&2 2>/dev/null

# First this, then the look: whichever way the tool dies meanwhile, either the watchdog finds this shell,
# or this shell finds that the watchdog has given up.
IFS= read -r _fenceline_mark <"$_fenceline_folder/mark"
IFS= read -r _fenceline_stat <"/proc/$$/stat"
if [ -z "$_fenceline_mark" ] || [ -z "$_fenceline_stat" ] ||
  ! printf '%s %s\n' "$_fenceline_keeper" "$_fenceline_stat" >"$_fenceline_folder/guard" ||
  ! IFS= read -r _fenceline_armed <"$_fenceline_folder/armed"; then
  [ "$_fenceline_keeper" = - ] || kill -s KILL "$_fenceline_keeper"
  exit 71
fi

export FENCELINE_RUN="${FENCELINE_RUN:+$FENCELINE_RUN }$_fenceline_mark"

# exec, so that a word that is a builtin of this shell still means the program.
if [ "$_fenceline_keeper" != - ]; then
  exec "$@" 2>&5 5>&-
fi
if [ -z "$_fenceline_early" ]; then
  (exec "$@" 2>&5 5>&-)
  _fenceline_status=$?
else
  _fenceline_status=$_fenceline_early # It was told to end before there was a command.
fi

echo "$_fenceline_status" >"$_fenceline_folder/ended"
exit "$_fenceline_status"
