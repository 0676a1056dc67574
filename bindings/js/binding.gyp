{
  "targets": [
    {
      "target_name": "fovea",
      "sources": ["addon.c"],
      "cflags": ["<!@(pkg-config --cflags fovea)"],
      "libraries": ["<!@(pkg-config --libs fovea)", "-Wl,-rpath,<!(pkg-config --variable=libdir fovea)"]
    }
  ]
}
