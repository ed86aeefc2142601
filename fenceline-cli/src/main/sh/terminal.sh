#!/bin/sh
#
# terminal.sh: gives the terminal to a command that runs in a process group of its own.
#
#   sh terminal.sh TOOL GUARD PIPE COMMAND [ARGUMENT...]
#
# TOOL is the process id of the tool, which a job-controlling shell has started in the foreground.
# GUARD is guard.sh, PIPE is for it; small files are put beside the pipe. The guard becomes a job: it
# leads a group, and the group has the terminal until it ends (Ctrl-C reaches the command and what it
# started, and not the tool).
#
# Ctrl-Z stops that group; then the tool's own group is stopped too, so that the user's shell notices.
# When the user continues it, so is the command, in the foreground or not, as the tool then is.
#
# Exits as the command does, unless the file 'status' beside the pipe says otherwise.

tool=$1
guard=$2
pipe=$3
scratch=${pipe%/*}
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
  IFS= read -r stat <"/proc/$tool/stat" || stat=') X 0 0 0 0 0'
  # shellcheck disable=SC2086
  set -- ${stat##*) }
  state=$1 group=$3 foreground=$6
}

stopped() {
  jobs >"$scratch/jobs"
  line=
  IFS= read -r line <"$scratch/jobs"
  case $line in
    *[Ss]topped* | *[Ss]uspended*) return 0 ;;
    *) return 1 ;;
  esac
}

# In the background, where it has no part in the terminal.
until_tool_runs() {
  (
    sleep 0.1
    look
    while [ "$state" = T ]; do
      sleep 0.1
      look
    done
  ) &
  wait $!
}

lead_terminal
set -m
sh "$guard" "$pipe" $$ "$@" 2>&6 6>&-
status=$?

while stopped; do
  leave_terminal
  look
  kill -s TSTP -- "-$group"
  until_tool_runs
  look
  if [ "$state" = X ]; then
    exit 1 # The guard sees it too, and kills the group.
  elif [ "$group" = "$foreground" ]; then
    lead_terminal
    fg %1 >/dev/null
    status=$?
  else
    bg %1 >/dev/null
    wait %1
    status=$?
  fi
done

# At its exit dash gives the terminal back to the tool. If the user's shell has it by now, this would
# rob the user: then dash must not notice its end, and the tool finds the status in the file.
look
if [ "$group" != "$foreground" ] && [ "$$" != "$foreground" ]; then
  echo "$status" >"$scratch/status"
  kill -s KILL $$
fi
exit "$status"
