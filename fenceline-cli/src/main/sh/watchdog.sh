#!/bin/sh
#
# watchdog.sh: sends signals for the tool, and ends all processes of a run when the tool dies.
#
#   setsid sh watchdog.sh FOLDER
#
# Orders come on stdin, a line each:
#   mark MARK          what the processes of the run carry in FENCELINE_RUN
#   guard KEEPER STAT  what guard.sh has left in FOLDER, as soon as the tool has read it
#   SIGNAL TARGET...   sends a signal (0: none) to processes, and to groups (-ID). Answered by a line for
#                      each, "+ TARGET", or what is wrong and then "- TARGET"; at the end by "."
#   clock SIGNAL       from now on somebody watches whether the time in 'until' is over, and then sends the
#                      signal (KILL, TERM) by itself: the tool may be stopped, and unable to
#   quit
#
# The end of stdin means that the tool is gone without a word (SIGKILL): all are killed, until none is
# left. This shell has a session of its own, so that no signal to the command, to the tool's group or from
# the keyboard ends it; if it dies all the same, the tool starts another. All but the pause between two
# looks is done by builtins: a machine that has no room for another process is when it is needed most.
#
# FOLDER belongs to the run:
#   armed   from here: not empty while the tool lives. The guard starts no command otherwise.
#   mark    from the tool: MARK, for the guard; on a command line everybody could see it
#   guard   from guard.sh, before it looks at 'armed': KEEPER and its line of /proc/PID/stat
#   until   from the tool: how long the command may run if nothing else is said, in hundredths of a second of
#           /proc/uptime. A set clock does not change that, and the time of a suspended machine counts. Both
#           sides keep it open: others tidy up among temporary files.
#   overdue from here: that time was over, and the command was ended
#   ended   from guard.sh, or its keeper: the exit status of the command, which ended by itself, or by a
#           signal: then it is above 128, and what the command has left behind is ended too
#
# The processes of a run are those of the guard's session. If there is a KEEPER, the guard is in a
# terminal, and the session is the user's own: then they are those of the guard's group, their
# descendants, and those that carry MARK in their environment. A process that has moved to another session
# is none of them. RunProcesses.java has the same rules, for while the tool lives.

folder=$1
mark='' told='' clock=''

trap '' HUP INT QUIT ABRT ALRM PIPE TERM USR1 USR2
# A redirection of 'exec' that fails would end this shell.
[ ! -r "$folder/until" ] || exec 4<"$folder/until"
# Names of processes may be cut in the middle of a character; the tool reads messages of 'kill'.
export LC_ALL=C

# Splits a line of /proc/PID/stat. The name in it may have blanks and brackets.
split() {
  pid=${1%% *}
  set -f
  # shellcheck disable=SC2086
  set -- ${1##*) }
  set +f
  state=$1 parent=$2 group=$3 session=$4 threads=${18} started=${20}
}

# Fails if the guard has left nothing: it starts no command before.
read_guard() {
  line=$told
  [ -n "$line" ] || IFS= read -r line <"$folder/guard"
  [ -n "$line" ] || return 1
  keeper=${line%% *}
  split "${line#* }"
  leader=$pid home=$session born=$started
  # If another process has its id by now, nobody is left in its group, or in the session that it led.
  line=
  IFS= read -r line <"/proc/$leader/stat"
  if [ -n "$line" ]; then
    split "$line"
    if [ "$started" != "$born" ]; then
      [ "$keeper" != - ] || return 1
      leader=-
    fi
  fi
}

# Sets 'alive'.
look() {
  alive='' others=''
  read_guard || return 0
  for file in /proc/[0-9]*/stat; do
    line=
    IFS= read -r line <"$file"
    [ -n "$line" ] || continue
    split "$line"
    # A zombie with threads is a process whose first thread has ended.
    case $session:$state:$threads in
      "$home":Z:[01] | "$home":X:*) continue ;;
      "$home":*) ;;
      *) continue ;;
    esac
    if [ "$keeper" = - ] || [ "$group" = "$leader" ]; then
      alive="$alive $pid"
    elif [ "$pid" != "$keeper" ] && [ "$started" -ge "$born" ]; then
      others="$others $pid:$parent"
    fi
  done
  add_marked
  add_descendants
}

add_marked() {
  rest=
  for each in $others; do
    if carries_mark "${each%:*}"; then
      alive="$alive ${each%:*}"
    else
      rest="$rest $each"
    fi
  done
  others=$rest
}

# 'read' drops the zero bytes between the variables; values may have several lines.
carries_mark() {
  line=
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      *"$mark"*) return 0 ;;
    esac
    line=
  done <"/proc/$1/environ"
  return 1
}

# Children of those who were found, and theirs.
add_descendants() {
  found=yes
  while [ -n "$found" ] && [ -n "$others" ]; do
    found='' rest=''
    for each in $others; do
      case "$alive $leader " in
        *" ${each#*:} "*)
          alive="$alive ${each%:*}"
          found=yes
          ;;
        *) rest="$rest $each" ;;
      esac
    done
    others=$rest
  done
}

# At once to the whole group, before anybody is looked for: nobody can fork in between.
kill_group() {
  read_guard && [ "$leader" != - ] && kill -s KILL -- "-$leader"
}

# A process that forks and ends while /proc is read is seen nowhere, nor is the mark of one that is just
# becoming another program: nobody is left after three looks that find none.
kill_all() {
  for _ in 1 2 3; do
    kill_group
    look
    # shellcheck disable=SC2086
    [ -z "$alive" ] || kill -s KILL $alive
    [ -z "$alive" ] || return 0
  done
}

# The keeper goes first: else it would take the terminal from the user's shell.
kill_keeper() {
  read_guard || return 0
  [ "$keeper" != - ] || return 0
  line=
  IFS= read -r line <"/proc/$keeper/stat"
  [ -n "$line" ] || return 0
  split "$line"
  # It is older than the guard; whoever has its id after it is not.
  if [ "$session" = "$home" ] && [ "$started" -le "$born" ]; then
    kill -s KILL "$keeper"
  fi
}

# As an argument of 'command eval', a process that can't be started does not end this shell (dash).
pause() {
  command eval 'sleep "$1"'
}

# The time of 'until'; read until it is the same twice, since the tool may be writing it.
read_until() {
  due='' before=-
  while [ "$due" != "$before" ]; do
    before=$due due=
    read -r due </proc/self/fd/4
  done
  [ -n "$due" ]
}

# Both clocks are those of this machine. The tool moves the time each time the lease is renewed; here it is
# looked at when it is due, and every few seconds, since a sleep does not count the time of a suspended machine.
# A fifth of a second is for a tool that runs, and is about to say more.
watch_clock() {
  while read_until; do
    IFS='. ' read -r whole part _ </proc/uptime
    left=$((due + 20 - whole * 100 - ${part#0}))
    if [ "$left" -le 0 ]; then
      echo overdue >"$folder/overdue"
      end_overdue
      return
    fi
    [ "$left" -le 500 ] || left=500
    rest=$((left % 100))
    [ "$rest" -gt 9 ] || rest=0$rest
    pause "$((left / 100)).$rest"
  done
}

end_overdue() {
  if [ "$clock_signal" = KILL ]; then
    end_all
  else
    look
    # shellcheck disable=SC2086
    [ -z "$alive" ] || kill -s "$clock_signal" $alive
  fi
}

# One that has died is replaced. If no process can be started, there is none until the tool asks again.
start_clock() {
  clock_signal=$1
  if [ -n "$clock" ]; then
    line=
    IFS= read -r line <"/proc/$clock/stat"
    [ -z "$line" ] || split "$line"
    [ -z "$line" ] || [ "$parent" != $$ ] || [ "$state" = Z ] || return 0
  fi
  command eval 'watch_clock </dev/null >/dev/null 2>&1 &' && clock=$!
}

# It knows what this shell knew when it was started.
restart_clock() {
  if [ -n "$clock" ]; then
    kill -s KILL "$clock"
    clock=
    start_clock "$clock_signal"
  fi
}

# Kills whoever is left, until nobody is.
end_all() {
  kill_keeper
  kill_all
  wait=0.02
  while [ -n "$alive" ]; do
    pause "$wait"
    kill_all
    case $wait in
      0.02) wait=0.1 ;;
      0.1) wait=1 ;; # It can't be killed now; perhaps later.
    esac
  done
}

# The clock and its sleep are in this shell's group, which nobody else is in.
leave() {
  if [ -n "$clock" ]; then
    IFS= read -r line <"/proc/$$/stat"
    split "$line"
    [ "$group" != $$ ] || kill -s KILL 0
  fi
  exit 0
}

# Appended: one that replaces another must not leave the file empty for a moment, in which the guard looks.
echo armed >>"$folder/armed"
echo armed

ending=
while IFS= read -r order; do
  case $order in
    quit) leave ;;
    clock\ *) start_clock "${order#clock }" ;;
    mark\ *) mark=${order#mark } ;;
    guard\ *)
      told=${order#guard }
      restart_clock
      ;;
    *)
      signal=${order%% *}
      case $signal in
        HUP | INT | TERM | KILL) ending=yes ;;
      esac
      for target in ${order#* }; do
        if kill -s "$signal" -- "$target"; then
          echo "+ $target"
        else
          echo "- $target"
        fi
      done
      echo .
      ;;
  esac
done

# Not removed: that would take another process. Not by ':', a special builtin: where the folder is gone,
# that would end this shell.
true >"$folder/armed"
exec 2>/dev/null
status=129
[ -n "$ending" ] || IFS= read -r status <"$folder/ended"
if [ "$status" -gt 128 ]; then
  end_all
fi
# Else the command was through, and what it has left behind is left alone.
rm -rf "$folder"
leave
