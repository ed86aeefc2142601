#!/bin/sh
#
# build.sh: makes the Debian package of the tool, with what Debian has (dpkg-deb).
#
#   sh build.sh DIST VERSION TARGET
#
# DIST is the distribution, TARGET the package. Where there is no dpkg-deb, nothing is made.
set -eu
umask 022
here=$(cd "${0%/*}" && pwd -P)
dist=$1 version=$2 target=$3

if ! command -v dpkg-deb >/dev/null; then
  echo "build.sh: there is no dpkg-deb, so there is no Debian package" >&2
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
home=$root/usr/share/fenceline
mkdir -p "$home/bin" "$home/lib" "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/doc/fenceline" \
  "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
  "$root/usr/share/fish/vendor_completions.d" "$root/DEBIAN"

cp "$dist/bin/fenceline" "$home/bin"
cp "$dist"/lib/*.jar "$dist"/lib/*.sh "$home/lib"
cp "$dist/share/fenceline/cli.schema.json" "$home"
ln -s ../share/fenceline/bin/fenceline "$root/usr/bin/fenceline"
gzip -9nc "$dist/share/man/man1/fenceline.1" >"$root/usr/share/man/man1/fenceline.1.gz"
cp "$dist/LICENSE" "$root/usr/share/doc/fenceline/copyright"
cp "$dist/share/bash-completion/completions/fenceline" "$root/usr/share/bash-completion/completions"
cp "$dist/share/zsh/site-functions/_fenceline" "$root/usr/share/zsh/vendor-completions"
cp "$dist/share/fish/vendor_completions.d/fenceline.fish" "$root/usr/share/fish/vendor_completions.d"
chmod -R u=rwX,go=rX "$root"
chmod 755 "$home/bin/fenceline"

# A snapshot comes before its release.
debian_version=$(echo "$version" | sed 's/-SNAPSHOT$/~snapshot/')
size=$(du -sk "$root/usr" | cut -f1)
sed "s/@VERSION@/$debian_version/; s/@SIZE@/$size/" "$here/control" >"$root/DEBIAN/control"
for script in postinst prerm; do
  cp "$here/$script" "$root/DEBIAN/$script"
  chmod 755 "$root/DEBIAN/$script"
done

# Jars are compressed already.
dpkg-deb --root-owner-group -Zgzip -z1 --build "$root" "$target" >/dev/null
