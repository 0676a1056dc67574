# Writes the file of pkg-config that packages have: pkgconfig.sh SOURCE BUILD
cat >fovea.pc <<EOF
libdir=$2/lib
Name: fovea
Description: opens compiled models
Version: 1
Libs: -L\${libdir} -lfovea_rt
Cflags: -I$1/runtime/library
EOF
