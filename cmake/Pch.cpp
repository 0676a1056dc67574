//===- Pch.cpp - carries the precompiled header ---------------------------===//
#include "cmake/Pch.h"
