#!/bin/sh
#
# prepare.sh: makes the tool start faster on this machine, with this JVM.
#
# It does once what a user does, and keeps beside itself
#   fenceline.jsa   the classes that were needed, as the JVM can map them into memory
#   native/         SQLite's native library, which its driver otherwise unpacks at each start
# The build runs it; an unpacked tool has it run in the background at its first use, if it may write to the
# folder, and a Debian package when it is installed. Without these files, or with another JVM, the tool works
# all the same. They are put into their place when they are whole: others may be starting meanwhile.

lib=$(CDPATH='' cd -- "${0%/*}" && pwd -P) || exit 1
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work" "$lib/preparing" "$lib/fenceline.jsa.new"' EXIT
export FENCELINE_NO_PREPARE=yes

# Runs the tool with an empty home folder.
tool() {
  HOME=$work XDG_STATE_HOME='' XDG_CONFIG_HOME='' FENCELINE_STORE='' "$lib/../bin/fenceline" "$@"
}

# The driver removes its copy of the library when the JVM ends, but not from under a running command.
export FENCELINE_JAVA_OPTS="-Dorg.sqlite.tmpdir=$work"
tool run prepare -- sh -c "cp '$work'/sqlite-*libsqlitejdbc.so '$work/library'" >"$work/log" 2>&1
if [ -s "$work/library" ] && mkdir -p "$lib/native"; then
  cp "$work/library" "$lib/native/new" && mv "$lib/native/new" "$lib/native/libsqlitejdbc.so"
fi

train() {
  name=$1
  shift
  FENCELINE_JAVA_OPTS="-XX:DumpLoadedClassList=$work/$name.classes"
  tool "$@" >>"$work/log" 2>&1
}

train run run prepare --lease 20s -w 5 -- true
train once once prepare -- true
train slow run prepare --help
train list ls
train json ls --json
train show show prepare
train memory run prepare --store memory: -- true
# Nobody listens there; most of a driver is loaded by then all the same.
for scheme in redis zookeeper etcd; do
  train "$scheme" run prepare --store "$scheme://127.0.0.1:1" --connect-timeout 1s -- true
done
for scheme in postgresql mariadb; do
  train "$scheme" run prepare --store "jdbc:$scheme://127.0.0.1:1/x" --connect-timeout 1s -- true
done
cat "$work"/*.classes | sort -u >"$work/all"

if ! "$java" -Xshare:dump -XX:SharedClassListFile="$work/all" -XX:+UseSerialGC \
  -XX:SharedArchiveFile="$lib/fenceline.jsa.new" -cp "$lib/fenceline-cli.jar" >>"$work/log" 2>&1 ||
  ! mv "$lib/fenceline.jsa.new" "$lib/fenceline.jsa"; then
  rm -f "$lib/fenceline.jsa"
fi
if [ ! -e "$lib/fenceline.jsa" ] || [ ! -e "$lib/native" ]; then
  echo "prepare.sh: could not do everything; the tool starts more slowly" >&2
  tail -n 3 "$work/log" >&2
fi
