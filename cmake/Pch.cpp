#include "cmake/Pch.h"
