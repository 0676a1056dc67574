# Makes the model of these tests, and what `fovea` says of it: model.sh SOURCE
set -eu
model="$1/models/rnnsearch.fov --set E=8 --set H=8 --set A=8 --set M=8"
printf 'ein Haus\nein Haus\nein Baum\n' >given
printf 'a house\na house the\na tree\n' >wanted
fovea train $model --steps 1 --quiet --data src=given,tgt=wanted --seed 1 --out a
weights="--weights a/model.safetensors"
fovea compile $model $weights --get align --entry loss,decode,get --emit so -o librnnsearch.so
printf 'ein Haus\nBaum Baum ein\nein nie\n' >src
fovea decode $model $weights --data src=src --scores --max-length 6 --beam 3 >decoded
printf 'ein Haus\nein Baum\n' >left
printf 'a house\na tree\n' >right
fovea score $model $weights --data src=left,tgt=right >scored
{
  awk -F '\t' '{ printf "%.6f\t%s\n", $1, $2 }' decoded
  awk '{ p[NR] = $1 } END { printf "log p %.6f %.6f\n", p[1], p[2] }' scored
} >said
