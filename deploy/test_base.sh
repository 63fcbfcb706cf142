#!/usr/bin/env bash
# Make the image localhost/python-base of Debian packages alone: the Dockerfile is built upon it where no image registry
# can be reached (tests/system/test_image.py). For tests, never for users: it trusts what this machine trusts, and its
# pip and apt-get ask where those of this machine ask.
# Needs root and: apt-get install --no-install-recommends buildah debootstrap crun
set -euo pipefail
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot

root=$(mktemp -d)
trap 'rm -rf "$root" "$root.tar"' EXIT
mirror=$(apt-get indextargets --format '$(SITE)' | sort -u | head -n 1)
debootstrap --variant=minbase --include=python3,python3-venv,python-is-python3,ca-certificates \
  bookworm "$root" "$mirror" >/dev/null
for path in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/ssl/certs/ca-certificates.crt \
  /etc/pip.conf /etc/xdg/pip /root/.config/pip; do
  if [[ -e $path ]]; then
    mkdir -p "$root$(dirname "$path")"
    cp -r -T "$path" "$root$path"
  fi
done
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*

tar -C "$root" -cf "$root.tar" .
container=$(buildah from scratch)
buildah add --quiet "$container" "$root.tar" / >/dev/null
buildah config --cmd '["python3"]' "$container"
buildah commit --quiet "$container" localhost/python-base
buildah rm "$container" >/dev/null
