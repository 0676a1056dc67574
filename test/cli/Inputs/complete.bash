# complete.bash SCRIPT WORD..: what bash completes the last word to.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_fovea
echo "${COMPREPLY[*]}"
