# no_gaps.sh FILE...: fails where a Coq file leaves a proof open, assumes a statement or switches a check off.
# Comments count too: better a false alarm than a gap. `Parameter` is for the interface of numbers alone, `Variable` and
# its like for sections: outside of one they are axioms, and Coq does not say so.
forbidden='\<(Admitted|[Aa]dmit|give_up|Axioms?|Conjectures?|unsafe|bypass_check|type-in-type)\>|Unset +(Guard|Positivity|Universe) +Checking'
outside='
  FNR == 1 { open = 0 }
  { words = split($0, word) }
  { for (i = 1; i < words; i++) if (i == 1 || word[i-1] ~ /[.\])]$|^(Local|Global|Polymorphic)$/) {
      if (word[i] == "Section") { sub(/\.$/, "", word[i+1]); section[++open] = word[i+1] }
      else if (word[i] == "End" && open && word[i+1] == section[open] ".") open--
      else if (word[i] ~ /^(Variables?|Hypothes[ie]s|Context)$/ && !open) print FILENAME ":" FNR ":" $0
  } }'
found=$(
  grep -nHE "$forbidden" "$@"
  for file in "$@"; do
    case $file in *numbers.v) ;; *) grep -nHE '(^|[].)]|Local|Global) *Parameters?\>' "$file" ;; esac
  done
  awk "$outside" "$@"
)
if [ -n "$found" ]; then
  echo "a gap, an assumption or a check switched off:"
  echo "$found"
  exit 1
fi
