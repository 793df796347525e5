# no_gaps.sh FILE...: fails where a Coq file leaves a proof open, assumes a statement or switches a check off.
# Comments count too: better a false alarm than a gap. `Parameter` is for the interface of numbers alone.
forbidden='\<(Admitted|admit|give_up|Axioms?|Conjecture|unsafe|bypass_check|type-in-type)\>|Unset +(Guard|Positivity|Universe) +Checking'
found=$(
  grep -nHE "$forbidden" "$@"
  for file in "$@"; do
    case $file in *numbers.v) ;; *) grep -nHE '^ *(Local +|Global +)?(Parameters?)\>' "$file" ;; esac
  done
)
if [ -n "$found" ]; then
  echo "a gap, an assumption or a check switched off:"
  echo "$found"
  exit 1
fi
