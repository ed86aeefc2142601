#!/bin/sh
#
# terminal.sh: gives the terminal to a command that runs in a process group of its own.
#
#   sh terminal.sh TOOL GUARD FOLDER COMMAND [ARGUMENT...]
#
# TOOL is the process id of the tool, which a job-controlling shell has started in the foreground.
# GUARD is guard.sh, FOLDER is for it. The guard becomes a job: it leads a group, and the group has the
# terminal until it ends (Ctrl-C reaches the command and what it started, and not the tool).
#
# Ctrl-Z stops that group; then the tool's own group is stopped too, so that the user's shell notices.
# When the user continues it, so is the command, in the foreground or not, as the tool then is.
#
# Exits as the command does, unless it has to be killed at its end, and leaves the status in 'ended' in
# FOLDER: without that the tool knows that this shell was killed, and has the rest ended.

# An assignment to a variable that the user has exported would be seen by the command: these names are
# ours alone, and not exported.
unset _fenceline_tool _fenceline_guard _fenceline_folder _fenceline_stat \
  _fenceline_state _fenceline_group _fenceline_foreground _fenceline_line _fenceline_status
_fenceline_tool=$1
_fenceline_guard=$2
_fenceline_folder=$3
shift 3

exec 6>&2

# bash sets the terminal's group by its stderr, whenever a job changes. Others find the terminal by
# themselves, and would report "Stopped" to a stderr that they have.
lead_terminal() {
  if [ -n "$BASH_VERSION" ]; then
    exec 2>/dev/tty
  else
    exec 2>/dev/null
  fi
}

leave_terminal() {
  exec 2>/dev/null
}

# State and group of the tool, and the foreground group of its terminal. The name before them may have
# spaces and brackets. Nothing here may be an external program: it would be a job, and take the
# terminal away from the user's shell.
look() {
  IFS= read -r _fenceline_stat <"/proc/$_fenceline_tool/stat" || _fenceline_stat=') X 0 0 0 0 0'
  # shellcheck disable=SC2086
  set -- ${_fenceline_stat##*) }
  _fenceline_state=$1 _fenceline_group=$3 _fenceline_foreground=$6
}

stopped() {
  jobs >"$_fenceline_folder/jobs"
  _fenceline_line=
  IFS= read -r _fenceline_line <"$_fenceline_folder/jobs"
  case $_fenceline_line in
    *[Ss]topped* | *[Ss]uspended*) return 0 ;;
    *) return 1 ;;
  esac
}

# In the background, where it has no part in the terminal.
until_tool_runs() {
  (
    sleep 0.1
    look
    while [ "$_fenceline_state" = T ]; do
      sleep 0.1
      look
    done
  ) &
  wait $!
}

lead_terminal
set -m
sh "$_fenceline_guard" "$_fenceline_folder" $$ "$@" 2>&6 6>&-
_fenceline_status=$?

while stopped; do
  leave_terminal
  look
  kill -s TSTP -- "-$_fenceline_group"
  until_tool_runs
  look
  if [ "$_fenceline_state" = X ]; then
    exit 1 # The watchdog sees it too, and kills the group.
  elif [ "$_fenceline_group" = "$_fenceline_foreground" ]; then
    lead_terminal
    fg %1 >/dev/null
    _fenceline_status=$?
  else
    bg %1 >/dev/null
    wait %1
    _fenceline_status=$?
  fi
done

echo "$_fenceline_status" >"$_fenceline_folder/ended"

# At its exit dash gives the terminal back to the tool. If the user's shell has it by now, this would
# rob the user: then dash must not notice its end, and the tool finds the status in the file.
look
if [ "$_fenceline_group" != "$_fenceline_foreground" ] && [ "$$" != "$_fenceline_foreground" ]; then
  kill -s KILL $$
fi
exit "$_fenceline_status"
