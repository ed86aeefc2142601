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

# In one JVM, with an empty home folder. The driver removes its copy of the library when the JVM ends, but not
# from under a running command.
HOME=$work XDG_STATE_HOME='' XDG_CONFIG_HOME='' FENCELINE_STORE='' LC_ALL=C.UTF-8 "$java" \
  -XX:DumpLoadedClassList="$work/classes" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable \
  -Dio.lettuce.core.jfr=false -Dio.netty.allocator.type=unpooled -Dio.netty.transport.noNative=true \
  -Djava.locale.providers=FALLBACK -Dfile.encoding=UTF-8 \
  -Dorg.sqlite.tmpdir="$work" -Duser.home="$work" -Dfenceline.home="${lib%/*}" -cp "$lib/fenceline-cli.jar" \
  io.fenceline.cli.prepare.Training sh -c "cp '$work'/sqlite-*libsqlitejdbc.so '$work/library'" \
  </dev/null >"$work/log" 2>&1
if [ -s "$work/library" ] && mkdir -p "$lib/native"; then
  cp "$work/library" "$lib/native/new" && mv "$lib/native/new" "$lib/native/libsqlitejdbc.so"
fi

# Collector and heap as the tool has them: only so are objects kept along with the classes.
if ! "$java" -Xshare:dump -XX:SharedClassListFile="$work/classes" -XX:+UseG1GC -Xmx256m \
  -XX:SharedArchiveFile="$lib/fenceline.jsa.new" -cp "$lib/fenceline-cli.jar" >>"$work/log" 2>&1 ||
  ! mv "$lib/fenceline.jsa.new" "$lib/fenceline.jsa"; then
  rm -f "$lib/fenceline.jsa"
fi
if [ ! -e "$lib/fenceline.jsa" ] || [ ! -e "$lib/native" ]; then
  echo "prepare.sh: could not do everything; the tool starts more slowly" >&2
  tail -n 3 "$work/log" >&2
fi
