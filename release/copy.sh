# Sourced by the scripts of this folder: copies of the clone, and local repositories of their own.

# Sources only, unless asked for the compiled classes as well.
copy_clone() { # folder [with-classes]
  mkdir -p "$1"
  tar --exclude=./.git --exclude=target -cf - . | tar -xf - -C "$1"
  if [[ ${2-} == with-classes ]]; then
    find . -path '*/target/classes' -prune -print | tar -cf - -T - | tar -xf - -C "$1"
  fi
}

# Links to what others have published, and nothing of ours.
copy_repository() { # folder
  local shared=${MAVEN_REPOSITORY:-$HOME/.m2/repository}
  mkdir -p "$1"
  [[ -d $shared ]] || return 0
  cp -al "$shared/." "$1" 2>/dev/null || cp -a "$shared/." "$1"
  find "$1" \( -name _remote.repositories -o -name '*.lastUpdated' \
    -o -name resolver-status.properties \) -delete
  rm -rf "$1/io/fenceline"
}
