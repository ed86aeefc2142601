#!/bin/sh
#
# prepare.sh: makes the tool start faster on this machine, with this JVM.
#
# It does once what a user does, and keeps beside itself
#   sqlite.jsa, redis.jsa   the classes that 'run' needs on this store, as the JVM can map them into memory
#   all.jsa                 those that all subcommands need, on every store
#   native/                 SQLite's native library, which its driver otherwise unpacks at each start
# The build runs it; an unpacked tool has it run in the background at its first use, if it may write to the
# folder, and a Debian package when it is installed. Without these files, or with another JVM, the tool works
# all the same. They are put into their place when they are whole: others may be starting meanwhile.

lib=$(CDPATH='' cd -- "${0%/*}" && pwd -P) || exit 1
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work" "$lib/preparing" "$lib"/new.jsa' EXIT

# What the JVM of the tool has, too: only so are objects kept along with the classes, and only so does a later
# Java use an archive with linked classes.
run_java() {
  HOME=$work XDG_STATE_HOME='' XDG_CONFIG_HOME='' FENCELINE_STORE='' LC_ALL=C.UTF-8 "$java" \
    -XX:+IgnoreUnrecognizedVMOptions -XX:+UseG1GC -Xmx256m -XX:TieredStopAtLevel=1 \
    --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
    -Dio.lettuce.core.jfr=false -Dio.netty.allocator.type=unpooled -Dio.netty.eventLoopThreads=2 \
    -Dio.netty.transport.noNative=true \
    -Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.EPollSelectorProvider \
    -Djava.locale.providers=FALLBACK -Dfile.encoding=UTF-8 \
    -Dorg.sqlite.tmpdir="$work" -Duser.home="$work" -Dfenceline.home="${lib%/*}" \
    "$@" </dev/null >>"$work/log" 2>&1
}

# make_archive NAME: trains with the jars of NAME.jar, and keeps the classes in NAME.jsa. Java 24 and later also keep them loaded and linked.
make_archive() {
  # The driver removes its copy of the library when the JVM ends, but not from under a running command.
  run_java -XX:DumpLoadedClassList="$work/$1" -Xlog:disable -Dfenceline.jars="$1" -cp "$lib/$1.jar" \
    io.fenceline.cli.prepare.Training "$1" sh -c "cp '$work'/sqlite-*libsqlitejdbc.so '$work/library'"
  run_java -Xshare:dump -XX:+AOTClassLinking -XX:SharedClassListFile="$work/$1" \
    -XX:SharedArchiveFile="$lib/new.jsa" -cp "$lib/$1.jar" &&
    mv "$lib/new.jsa" "$lib/$1.jsa"
}

whole=yes
for archive in sqlite redis all; do
  make_archive "$archive" || { rm -f "$lib/$archive.jsa"; whole=; }
done
if [ -s "$work/library" ] && mkdir -p "$lib/native"; then
  cp "$work/library" "$lib/native/new" && mv "$lib/native/new" "$lib/native/libsqlitejdbc.so"
fi
if [ -z "$whole" ] || [ ! -e "$lib/native" ]; then
  echo "prepare.sh: could not do everything; the tool starts more slowly" >&2
  tail -n 3 "$work/log" >&2
fi
