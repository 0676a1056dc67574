//===- Mistakes.cpp - mistakes that a check has to find -------------------===//

#include "test/random/Mistakes.h"
#include "dialect/AttnDialect.h"
#include "passes/analysis/Product.h"

using namespace fovea;

void fovea::random::plantMistake(mlir::Operation *program, size_t number) {
  llvm::SmallVector<mlir::Operation *> places;
  program->walk([&](attn::ComputeOp op) {
    // A product that has a name is computed by that name.
    if (!attn::productOf(op))
      op.getBody().walk([&](mlir::Operation *scalar) {
        if (mlir::isa<mlir::arith::AddFOp, mlir::arith::SubFOp,
                      mlir::arith::MulFOp>(scalar))
          places.push_back(scalar);
      });
  });
  if (places.empty())
    return;
  // All over the program, whatever its size.
  mlir::Operation *op = places[number * 7919 % places.size()];
  mlir::OpBuilder builder(op);
  mlir::Value left = op->getOperand(0), right = op->getOperand(1), wrong;
  if (mlir::isa<mlir::arith::AddFOp>(op))
    wrong = mlir::arith::SubFOp::create(builder, op->getLoc(), left, right);
  else
    wrong = mlir::arith::AddFOp::create(builder, op->getLoc(), left, right);
  op->getResult(0).replaceAllUsesWith(wrong);
  op->erase();
}

static int64_t launchesAhead = 0;

static void wrongParallel(FoveaPool *pool, FoveaWork work, void *frame,
                          int64_t units, int64_t atOnce) {
  bool isWrong = launchesAhead-- == 0;
  fovea_parallel(pool, work, frame, isWrong ? 0 : units, atOnce);
}

decltype(&fovea_parallel) fovea::random::leavingOut(int64_t number) {
  launchesAhead = number;
  return &wrongParallel;
}

bool fovea::random::wasLeftOut() { return launchesAhead < 0; }
