# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by what fetches Debian's packages: apt with sources, lists and state of our
# own, so that the system's are neither read nor changed. Needs $cache, $suite, say, die.
# shellcheck disable=SC2154 # cache and suite are the sourcing script's

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The machine's own sources, whichever format they are in: apt itself resolves
# them, also before its first update. Prints "URI RELEASE" lines.
own_sources()
{
	# shellcheck disable=SC2016 # apt expands these, not the shell
	apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Component: main' |
		sort -u
}

# find_uris: set main_uri and security_uri from the machine's own configuration.
find_uris()
{
	local uri release

	[ -z "${main_uri:-}" ] || return 0
	main_uri='' security_uri=''
	while read -r uri release; do
		case $release in
		bookworm|trixie|forky|stable|testing|sid) main_uri=${main_uri:-$uri} ;;
		*-security|*/updates) security_uri=${security_uri:-$uri} ;;
		esac
	done < <(own_sources)
	[ -n "$main_uri" ] ||
		die "no Debian archive in apt's sources; add one (deb URI $suite main) and run this again"
}

# priv STATE COMMAND...: run an apt command that sees only STATE's sources and
# lists. The system's own sources, pins and lists are neither read nor changed.
priv()
{
	local state=$cache/apt/$1 cmd=$2

	shift 2
	"$cmd" -q -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
		-o Dir::State::Lists="$state/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		-o APT::Architecture=amd64 -o APT::Architectures=amd64 -o Acquire::Languages=none \
		-o APT::Sandbox::User=root -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"
}

# make_state NAME SUITE...: sources and fresh lists for these suites. A suite
# that does not come, or is not signed by Debian, is an error.
make_state()
{
	local name=$1 s uri
	local state=$cache/apt/$name

	shift
	find_uris
	[ -r "$keyring" ] || die "$keyring is missing; apt-get install debian-archive-keyring"
	rm -rf "$state"
	mkdir -p "$state/lists/partial"
	for s in "$@"; do
		uri=$main_uri
		case $s in
		*-security)
			[ -n "$security_uri" ] || continue
			uri=$security_uri ;;
		esac
		echo "deb [arch=amd64 signed-by=$keyring] $uri $s main" >> "$state/sources.list"
	done
	say "reading package lists of: $*"
	priv "$name" apt-get -o APT::Update::Error-Mode=any update > "$state/update.log" 2>&1 || {
		cat "$state/update.log" >&2
		die "apt could not read the package lists of: $*"
	}
}
