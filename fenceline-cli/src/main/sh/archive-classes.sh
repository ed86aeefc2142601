#!/bin/sh
#
# archive-classes.sh: makes ../lib/fenceline.jsa, from which the JVM takes its classes ready to use.
#
# The archive fits one JVM only; the build makes it, and an installed tool profits when this is run
# once, by whoever may write to its folder. It does what a user does, and notes the classes.

set -e
lib=$(cd "${0%/*}" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f "$lib/fenceline.jsa"

train() {
  name=$1
  shift
  HOME=$work XDG_STATE_HOME='' XDG_CONFIG_HOME='' FENCELINE_STORE='' \
    FENCELINE_JAVA_OPTS="-Xshare:auto -XX:DumpLoadedClassList=$work/$name.classes" \
    "$lib/../bin/fenceline" "$@" >/dev/null 2>&1 || true
}

train run run archive --lease 20s -w 5 -- true
train list ls
train json ls --json
train show show archive
train memory run archive --store memory: -- true
cat "$work"/*.classes | sort -u >"$work/all"

"${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xshare:dump -XX:SharedClassListFile="$work/all" \
  -XX:SharedArchiveFile="$lib/fenceline.jsa" -XX:+UseSerialGC -Xlog:disable \
  -cp "$lib/fenceline-cli.jar" >/dev/null 2>&1 || rm -f "$lib/fenceline.jsa"
