# Completion of the program patchio in bash. It asks the program, so it knows what the installed version knows.
_patchio()
{
  local word=${COMP_WORDS[COMP_CWORD]} sub=() words
  [ "$COMP_CWORD" -gt 1 ] && sub=("${COMP_WORDS[1]}")
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="--help --version $("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n '/^Subcommands:/I,$s/^  \([a-z]*\) .*/\1/p')"
  elif [[ $word == -* ]]; then
    words=$("${COMP_WORDS[0]}" "${sub[@]}" --help 2>/dev/null | grep -oE '^ {2,10}(-[a-z], *)?--[a-z0-9-]+' | grep -oE -- '--.*')
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _patchio patchio
