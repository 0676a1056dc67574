# A training and a decoding by the `fovea` that is given, in a folder of its own.
set -eu
fovea=$1
folder=$(mktemp -d ./first.XXXXXX)
cd "$folder"
cat >copy.fov <<'SPEC'
model copy
dim H = 8
data src[S] : sentence
data tgt[T] : sentence
param read, said : embedding(H)
param cell : gru(H)
param last : linear(tgt.vocab)
f[i] = cell(f[i-1], read(src[i])); f[-1] = zeros(H)
s[t] = cell(s[t-1], said(tgt[t-1])); s[-1] = f[S-1]
tgt[t] ~ categorical(last(s[t]))
train { optimiser = adam }
decode { beam = 2 }
SPEC
printf 'a\nb\n' >text
run() { env -i HOME="$PWD" PATH=/usr/bin:/bin "$fovea" "$@"; }
run train copy.fov --data src=text,tgt=text --valid src=text,tgt=text --out out \
  --steps 200 --quiet
echo trained
echo a | run decode out --quiet
