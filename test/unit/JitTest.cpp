//===- JitTest.cpp - several kernel modules at once -----------------------===//
//
// What one module computes is tested in test/codegen.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/Jit.h"
#include "codegen/native/Lower.h"
#include "codegen/native/ObjectCache.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "gtest/gtest.h"

using namespace fovea::codegen;
using namespace mlir;

namespace {

/// Module `number` of a chain: @f5 calls @f4 of another module and adds 5.
OwningOpRef<ModuleOp> link(MLIRContext &context, int number) {
  std::string n = std::to_string(number);
  std::string before = std::to_string(number - 1);
  std::string text = number == 0
                         ? "func.func @f0(%x: i64) -> i64 { return %x : i64 }"
                         : "func.func private @f" + before +
                               "(i64) -> i64\n"
                               "func.func private @helper(%x: i64) -> i64 {\n"
                               "  %c = arith.constant " +
                               n +
                               " : i64\n"
                               "  %r = arith.addi %x, %c : i64\n"
                               "  return %r : i64\n"
                               "}\n"
                               "func.func @f" +
                               n +
                               "(%x: i64) -> i64 {\n"
                               "  %y = func.call @f" +
                               before +
                               "(%x) : (i64) -> i64\n"
                               "  %r = func.call @helper(%y) : (i64) -> i64\n"
                               "  return %r : i64\n"
                               "}\n";
  return parseSourceString<ModuleOp>(text, ParserConfig(&context));
}

std::vector<OwningOpRef<ModuleOp>> chain(MLIRContext &context, int count) {
  std::vector<OwningOpRef<ModuleOp>> modules;
  for (int i = 0; i < count; ++i)
    modules.push_back(link(context, i));
  return modules;
}

class JitTest : public ::testing::Test {
protected:
  JitTest() { loadKernelDialects(context); }
  MLIRContext context;
  Target target = Target::host();
};

} // namespace

TEST_F(JitTest, ModulesCallEachOther) {
  auto jit = Jit::create(target);
  ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError());
  EXPECT_FALSE((*jit)->add(chain(context, 20)));
  EXPECT_FALSE((*jit)->add(link(context, 20)));
  auto function = (*jit)->lookup("f20");
  ASSERT_TRUE(bool(function)) << llvm::toString(function.takeError());
  EXPECT_EQ(reinterpret_cast<int64_t (*)(int64_t)>(*function)(1), 211);
}

TEST_F(JitTest, ObjectsDoNotDependOnThreads) {
  MLIRContext single(MLIRContext::Threading::DISABLED);
  loadKernelDialects(single);
  CompileOptions options;
  options.threads = 1;
  auto one = compileObjects(chain(context, 12), target, options);
  options.threads = 4;
  auto four = compileObjects(chain(context, 12), target, options);
  auto apart = compileObjects(chain(single, 12), target, options);
  ASSERT_TRUE(one && four && apart);
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ((*one)[i]->getBuffer(), (*four)[i]->getBuffer());
    EXPECT_EQ((*one)[i]->getBuffer(), (*apart)[i]->getBuffer());
  }
}

TEST_F(JitTest, ErrorsComeInTheOrderOfTheModules) {
  std::vector<OwningOpRef<ModuleOp>> modules = chain(context, 8);
  for (int i : {6, 2}) {
    std::string text = "func.func @bad" + std::to_string(i) +
                       "() { %v = arith.constant dense<" + std::to_string(i) +
                       "> : tensor<2xi64>  return }";
    modules[i] = parseSourceString<ModuleOp>(text, ParserConfig(&context),
                                             "module " + std::to_string(i));
  }
  CompileOptions options;
  options.threads = 4;
  auto objects = compileObjects(std::move(modules), target, options);
  ASSERT_FALSE(objects);
  std::string message = llvm::toString(objects.takeError());
  size_t second = message.find("module 2:1:");
  size_t sixth = message.find("module 6:1:");
  EXPECT_NE(second, std::string::npos) << message;
  EXPECT_NE(sixth, std::string::npos) << message;
  EXPECT_LT(second, sixth) << message;
}

TEST_F(JitTest, ObjectsOfOneJitLoadIntoAnother) {
  auto objects = compileObjects(chain(context, 4), target);
  ASSERT_TRUE(bool(objects));
  auto jit = Jit::create(target);
  ASSERT_TRUE(bool(jit));
  for (auto &object : *objects)
    EXPECT_FALSE((*jit)->add(std::move(object)));
  auto function = (*jit)->lookup("f3");
  ASSERT_TRUE(bool(function)) << llvm::toString(function.takeError());
  EXPECT_EQ(reinterpret_cast<int64_t (*)(int64_t)>(*function)(0), 6);
}

TEST_F(JitTest, PerfFindsTheNamesOfKernels) {
  JitOptions options;
  options.perf = true;
  auto jit = Jit::create(target, options);
  ASSERT_TRUE(bool(jit));
  EXPECT_FALSE((*jit)->add(chain(context, 2)));
  auto function = (*jit)->lookup("f1");
  ASSERT_TRUE(bool(function));
  std::string path = "/tmp/perf-" +
                     std::to_string(llvm::sys::Process::getProcessId()) +
                     ".map";
  auto map = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(map));
  std::string address =
      llvm::utohexstr(reinterpret_cast<uintptr_t>(*function), true);
  EXPECT_TRUE((*map)->getBuffer().contains(address))
      << (*map)->getBuffer().str();
  EXPECT_TRUE((*map)->getBuffer().contains(" f0\n"));
  EXPECT_FALSE(llvm::sys::fs::remove(path));
}

TEST_F(JitTest, ATargetSaysWhatItNeeds) {
  Type f32 = Float32Type::get(&context), i1 = IntegerType::get(&context, 1);
  llvm::Expected<Target> v3 = Target::parse("x86-64-v3");
  if (!v3) {
    llvm::consumeError(v3.takeError());
    GTEST_SKIP() << "not an x86-64 host";
  }
  EXPECT_EQ(v3->lanes(f32), 8u);
  EXPECT_EQ(v3->lanes(IndexType::get(&context)), 4u);
  EXPECT_EQ(v3->lanes(i1), 32u);
  EXPECT_EQ(llvm::cantFail(Target::parse("x86-64-v4")).lanes(f32), 16u);
  Target other = *v3;
  other.features += ",+3dnow-of-tomorrow";
  auto jit = Jit::create(other);
  ASSERT_FALSE(jit);
  EXPECT_NE(llvm::toString(jit.takeError()).find("'3dnow-of-tomorrow'"),
            std::string::npos);
}
