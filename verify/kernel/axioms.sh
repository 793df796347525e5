# axioms.sh: for each theorem of headlines.txt, what the kernel reports that it rests on. Coq is asked once for all theorems to which
# axioms.txt gives the same list, since each answer takes a second: no theorem rests on more than is printed.
set -eu
mkdir -p build
awk '
  NR == FNR { if (/^ /) list[name] = list[name] $1 " "; else name = $1; next }
  { if (!(list[$1] in group)) { group[list[$1]] = ++groups }
    g = group[list[$1]]; print $1, g }
' axioms.txt headlines.txt > build/groups.txt
{
  sed 's/\..*//; s/^/Require /; s/$/./' headlines.txt | sort -u
  awk '{ all[$2] = all[$2] ", @" $1 }
    END { for (g in all) print "Definition group" g " := (tt" all[g] ").\nGoal True. idtac \"group " g "\". Abort.\nPrint Assumptions group" g "." }' build/groups.txt
} > build/headlines.v
grep '^-R' _CoqProject | xargs coqc -w none -o build/headlines.vo build/headlines.v > build/assumptions.txt
sed -n '/^group /{p;d}; s/^Closed under.*/  none/p; t; /^Axioms:/d; s/^\([^ :]*\)\( :.*\)\{0,1\}$/  \1/p' build/assumptions.txt |
  awk 'NR == FNR { if ($1 == "group") g = $2; else axioms[g] = axioms[g] $0 "\n"; next } { printf "%s\n%s", $1, axioms[$2] }' - build/groups.txt
