# axioms.sh: for each theorem of headlines.txt, the names of what the kernel reports that it rests on.
set -eu
mkdir -p build
{
  sed 's/\..*//; s/^/Require /; s/$/./' headlines.txt | sort -u
  sed 's/.*/Goal True. idtac "theorem &". Abort.\nPrint Assumptions &./' headlines.txt
} > build/headlines.v
grep '^-R' _CoqProject | xargs coqc -w none -o build/headlines.vo build/headlines.v > build/assumptions.txt
sed -n '/^theorem /{s/^theorem //p;d}; s/^Closed under.*/  none/p; t; /^Axioms:/d; s/^\([^ :]*\)\( :.*\)\{0,1\}$/  \1/p' build/assumptions.txt
