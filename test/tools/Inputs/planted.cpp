//===- planted.cpp - a program in which each mistake shows ----------------===//
#include <cstdio>

constexpr int size = 4;
static int numbers[size + 4];

static int sum(int first, int second) { return first + second; }

static void put(int at, int number) { numbers[at] = number; }

static bool isLarge(int number, bool doubts) {
  if (number > 5)
    return true;
  return doubts && number == 7; // a comment
}

int main() {
  put(size, 4);
  int total = 0;
  put(1, 5);
  put(1, 6);
  for (int i = 0; i < size; ++i)
    total = sum(total, numbers[i]);
  std::printf("%d %d %d\n", total, isLarge(total, false), isLarge(5, true));
}
