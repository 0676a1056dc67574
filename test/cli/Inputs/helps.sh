# The number of examples in the help of each command, each number once; then lines that
# are wider than 100 columns.
for name in $(fovea help | grep -oE '^  [a-z]+ '); do
  fovea "$name" --help | sed '1,/^Examples:/d' | grep -cE '^  [a-z].*fovea|^  fovea'
done | sort -u
for name in $(fovea help | grep -oE '^  [a-z]+ '); do fovea "$name" --help; done | grep -E '.{101}'
exit 0
