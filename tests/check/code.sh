# Sourced by the checks that read C.
#
#   code [keep] FILES...    prints FILE<tab>LINE<tab>CODE, without comments, strings emptied
#                           unless `keep` is given
#   sources GLOB...         the files of daemon/ with such names
# shellcheck shell=sh

sources() {
    [ -d daemon ] || return 0
    for glob in "$@"; do
        find daemon -type f -name "$glob"
    done | LC_ALL=C sort
}

code() {
    keep=0
    [ "${1:-}" = keep ] && keep=1 && shift
    [ $# -gt 0 ] || return 0
    awk -v keep="$keep" '
    FNR == 1 { comment = 0 }
    {
        line = $0
        out = ""
        while (line != "") {
            if (comment) {
                at = index(line, "*/")
                if (!at)
                    break
                line = substr(line, at + 2)
                comment = 0
            }
            if (!match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047/)) {
                out = out line
                break
            }
            token = substr(line, RSTART, RLENGTH)
            out = out substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
            if (token == "//")
                break
            if (token == "/*") {
                comment = 1
                out = out " "
            } else {
                quote = substr(token, 1, 1)
                out = out (keep ? token : quote quote)
            }
        }
        print FILENAME "\t" FNR "\t" out
    }' "$@"
}
