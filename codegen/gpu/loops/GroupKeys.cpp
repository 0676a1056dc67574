//===- GroupKeys.cpp - attention by groups of warps -----------------------===//
//
// Where the target decides so (`#nvidia.groups`), a block has 128 rows. It has
// three concurrent parts, as in FlashAttention-3 (Shah et al., 2024). A
// producer thread of the last warp group fetches copies of the rows. Then it
// fetches 64 keys at a time, while any of the `stages` is empty. Two consumer
// groups of four warps attend to 64 rows each: while one computes weights, the
// other uses the tensor cores.
//
//   fetching   wait until the rows before are read; fetch rows
//              for each tile: wait until stage s is empty, fetch keys
//   attending  wait for the rows
//              for each tile: wait until stage s is full; wgmma, of rows and
//              keys; pairs, in registers; wgmma, of pairs and keys; say that s
//              is empty
//
// With `ahead`, a group also overlaps both for itself (attendAhead).
//
// The register layout of wgmma's sums equals mma.sync's layout, so pairs are
// processed by the same code (KeyTiles.cpp).
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/loops/GroupKeys.h"
#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/Threads.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// Producer warps release registers to consumer warps. All start with as many
/// as the threads of a processor can have.
static constexpr int64_t registersOfBlock = 168, registersOfAttending = 232,
                         registersOfFetching = 40;

/// The words of the pairs of a tile, for each thread.
static constexpr int64_t wordsOfTile = keysOfTile / 4;

//===----------------------------------------------------------------------===//
// Attending
//===----------------------------------------------------------------------===//

/// The initial state of a consumer thread.
StripEmitter::Rows StripEmitter::rowsOfGroup(const Groups &groups, Value first,
                                             Value count) {
  Rows own;
  Value before = b.mul(b.div(groups.thread, num(groupOfWarps)), num(groupRows));
  own.first = b.add(first, before);
  // The second group may have no row; it reads the last one.
  own.count = b.sub(count, before);
  for (const Attention::Side &side : attention->sides) {
    const StripMember &member = memberOf(side.product);
    Operands all = operandsOf(member, first);
    own.numKeys = attention->isRead(side.product) ? all.k : all.n;
    KeySide &each = own.sides.emplace_back();
    each.size = side.size;
    each.width = wholeTerms(side.size);
  }
  own.lane = b.rem(groups.thread, num(warpThreads));
  own.pair = b.mul(b.rem(own.lane, num(4)), num(2));
  Value ofWarp =
      b.mul(b.rem(b.div(groups.thread, num(warpThreads)), num(warpsOfGroup)),
            num(mmaRows));
  own.known = findKnown();
  for (int64_t i = 0; i < 2; ++i) {
    own.rows[i] = b.add(b.add(ofWarp, b.div(own.lane, num(4))), num(8 * i));
    own.rowsRead[i] = b.min(own.rows[i], b.sub(own.count, num(1)));
    for (const Known &known : own.known)
      if (!known.isOfKey)
        own.ofRows[i][ReadOp(known.read).getArray()] =
            valueOf(known, b.add(own.first, own.rowsRead[i]), num(0));
  }
  return own;
}

/// The pairs of a tile of keys, and what the forward pass carries.
struct StripEmitter::Pairs {
  Values numbers;
  Scores scores;
};

/// The product of the rows of a group and the keys of a stage, in flight.
Values StripEmitter::multiplyTile(const Groups &groups, ComputeOp op,
                                  Value stage) {
  const GroupLayout &layout = groups.layout;
  const GroupPart &rows = layout.rows[layout.rowsOf.lookup(op)];
  unsigned side = attention->sideOf.lookup(op);
  const GroupPart &keys = layout.keys[side];
  Value left = describeRows(b, groups.at(b, num(rows.offset)));
  left = moveRows(b, left,
                  b.mul(b.div(groups.thread, num(groupOfWarps)),
                        num(copyBytes / numGroups)));
  Value right = describeRows(b, groups.at(b, num(keys.offset)));
  right = moveRows(b, right, groups.bytesOf(b, stage));
  Values sums;
  beginGroup(b);
  int64_t width = wholeTerms(attention->sides[side].size);
  for (int64_t term = 0; term < width; term += groupTerms) {
    int64_t tile = term / copyTerms, inTile = 2 * (term % copyTerms);
    Value some = moveRows(b, left, num(tile * copyBytes + inTile));
    Value beside = moveRows(b, right, num(tile * keyBytes + inTile));
    sums = term == 0 ? multiplyFirst(b, some, beside, keysOfTile)
                     : multiplyGroup(b, some, beside, sums);
  }
  return sums;
}

/// Starts all products of rows and keys, as one group.
PairProducts StripEmitter::startTile(const Groups &groups, Value stage) {
  PairProducts products;
  for (ComputeOp op : attention->pairs)
    if (attention->sideOf.contains(op))
      products[op] = multiplyTile(groups, op, stage);
  endGroup(b);
  return products;
}

PairProducts StripEmitter::awaitTile(const PairProducts &products,
                                     int64_t allBut) {
  Values all;
  for (ComputeOp op : attention->pairs)
    if (auto sums = products.find(op); sums != products.end())
      llvm::append_range(all, sums->second);
  all = awaitGroups(b, allBut, all);
  PairProducts awaited;
  ValueRange rest(all);
  for (ComputeOp op : attention->pairs)
    if (auto sums = products.find(op); sums != products.end()) {
      awaited[op] = Values(rest.take_front(sums->second.size()));
      rest = rest.drop_front(sums->second.size());
    }
  return awaited;
}

/// The pairs of a tile whose products are known: as words of bf16 if they
/// round.
StripEmitter::Pairs StripEmitter::pairsOfTile(const Rows &own, Value key,
                                              const PairProducts &products,
                                              ValueRange before, bool rounds) {
  auto productsAt = [&](int64_t from) {
    PairProducts own;
    for (auto &[op, sums] : products)
      own[op] = Values(ValueRange(sums).slice(from / mmaColumns * 4, 8));
    return own;
  };
  Pairs pairs;
  if (attention->weights) {
    Values weights = forTile(own, key, [&](bool isWhole) {
      return scoresOf(own, key, productsAt, isWhole);
    });
    pairs.scores = addScores(own, weights, before);
    pairs.numbers = rounds ? wordsOf(weights) : weights;
    return pairs;
  }
  SmallVector<ComputeOp> wanted = wantedPairs();
  pairs.numbers = forTile(own, key, [&](bool isWhole) {
    SmallVector<Values> all(wanted.size());
    for (int64_t from = 0; from < keysOfTile; from += keysAtOnce)
      for (auto [to, found] :
           llvm::zip_equal(all, pairsAt(own, key, from, productsAt(from),
                                        wanted, b.constant(real, 0), isWhole)))
        llvm::append_range(to, rounds ? wordsOf(found) : found);
    Values joined;
    for (const Values &each : all)
      llvm::append_range(joined, each);
    return joined;
  });
  return pairs;
}

SmallVector<ComputeOp> StripEmitter::wantedPairs() const {
  SmallVector<ComputeOp> wanted;
  for (ComputeOp read : attention->reads)
    if (!llvm::is_contained(wanted, pairsOf(read)))
      wanted.push_back(pairsOf(read));
  return wanted;
}

/// Starts to add what pairs weight, as a group for each read, or awaits each.
Values StripEmitter::addReads(const Groups &groups, const Rows &own,
                              Value stage, ValueRange words, ValueRange before,
                              bool awaits) {
  SmallVector<ComputeOp> wanted = wantedPairs();
  Values next(before);
  MutableArrayRef<Value> sums = next;
  for (ComputeOp read : attention->reads) {
    const GroupPart &keys = groups.layout.keys[attention->sideOf.lookup(read)];
    Value right = describeTerms(b, groups.at(b, num(keys.offset)), keyBytes);
    right = moveRows(b, right, groups.bytesOf(b, stage));
    ValueRange left = words.slice(
        (llvm::find(wanted, pairsOf(read)) - wanted.begin()) * wordsOfTile,
        wordsOfTile);
    MutableArrayRef<Value> part = sums.take_front(sumsOf(own, read));
    sums = sums.drop_front(part.size());
    Values found(part.begin(), part.end());
    beginGroup(b);
    for (int64_t from = 0; from < keysOfTile; from += groupTerms)
      found = multiplyGroup(b, left.slice(from / 4, 4),
                            moveRows(b, right, num(from * 2 * copyTerms)),
                            found, /*rowsAreTerms=*/true);
    if (awaits)
      found = finishGroup(b, found);
    llvm::copy(found, part.begin());
  }
  if (!awaits)
    endGroup(b);
  return next;
}

/// Advances the loop-carried state by a stage whose keys are
/// loaded.
Values StripEmitter::addTile(const Groups &groups, const Rows &own, Value key,
                             Value stage, ValueRange before) {
  PairProducts products;
  for (ComputeOp op : attention->pairs)
    if (attention->sideOf.contains(op))
      products[op] = finishGroup(b, multiplyTile(groups, op, stage));
  size_t numScores = attention->weights ? 4 : 0;
  Pairs pairs = pairsOfTile(own, key, products, before.take_front(numScores),
                            /*rounds=*/true);
  Values sums(before.drop_front(numScores));
  if (attention->weights)
    scale(pairs.scores, sums);
  Values next = pairs.scores.state;
  llvm::append_range(next, addReads(groups, own, stage, pairs.numbers, sums,
                                    /*awaits=*/true));
  return next;
}

/// The tensor cores add what the pairs of a tile weight, and multiply the next
/// keys, while the pairs of those are computed:
///
///   products 0, pairs 0 | products 1, reads 0 | products 2, reads 1 | reads 2
///                       |       pairs 1       |       pairs 2       |
///
/// All sums are those of addTile, in the same order.
Values StripEmitter::attendAhead(const Groups &groups, const Rows &own,
                                 Value from, Value to, EnterTile enter,
                                 LeaveTile leave) {
  size_t numScores = attention->weights ? 4 : 0;
  Values begin = beginSums(own);
  size_t numSums = begin.size() - numScores;
  auto stageBefore = [&](Value key) {
    Value number = b.div(b.sub(key, from), num(keysOfTile));
    return groups.stageOf(b, b.sub(number, num(1)));
  };
  auto next = [&](const Pairs &pairs, Values sums) {
    if (attention->weights)
      scale(pairs.scores, sums);
    Values all = pairs.scores.state;
    llvm::append_range(all, sums);
    // After all products: they may still read the words of the tile before.
    llvm::append_range(all, wordsOf(pairs.numbers));
    return all;
  };
  auto attend = [&] {
    PairProducts products = awaitTile(startTile(groups, enter(from)), 0);
    Pairs pairs = pairsOfTile(own, from, products,
                              ValueRange(begin).take_front(numScores),
                              /*rounds=*/false);
    Values carried =
        next(pairs, Values(ValueRange(begin).drop_front(numScores)));
    carried = b.loop(b.add(from, num(keysOfTile)), to, num(keysOfTile), carried,
                     [&](Value key, ValueRange before) {
                       ValueRange words =
                           before.drop_front(numScores + numSums);
                       Value stage = enter(key), last = stageBefore(key);
                       PairProducts products = startTile(groups, stage);
                       Values sums = addReads(groups, own, last, words,
                                              before.slice(numScores, numSums),
                                              /*awaits=*/false);
                       products = awaitTile(products, 1);
                       Pairs pairs = pairsOfTile(own, key, products,
                                                 before.take_front(numScores),
                                                 /*rounds=*/false);
                       sums = awaitGroups(b, 0, sums, words);
                       leave(last);
                       return next(pairs, sums);
                     });
    Value tiles = b.divUp(b.sub(to, from), num(keysOfTile));
    Value last = groups.stageOf(b, b.sub(tiles, num(1)));
    ValueRange all(carried);
    Values result(all.take_front(numScores));
    llvm::append_range(result, addReads(groups, own, last,
                                        all.drop_front(numScores + numSums),
                                        all.slice(numScores, numSums),
                                        /*awaits=*/true));
    leave(last);
    return result;
  };
  return b.chooseAll(b.less(from, to), attend, [&] { return begin; });
}

void StripEmitter::attendInGroup(const Groups &groups, Value first, Value count,
                                 Value from, Value to) {
  // Each thread handles its own elements.
  KernelBuilder::OneThread alone(b);
  Rows own = rowsOfGroup(groups, first, count);
  Value isFirst = b.equal(own.lane, num(0));
  auto enter = [&](Value key) {
    for (const Known &known : own.known)
      for (int64_t i = 0; known.isOfKey && i < 2; ++i) {
        Value other = b.add(b.add(key, own.lane), num(warpThreads * i));
        other = b.min(other, b.sub(own.numKeys, num(1)));
        own.ofKeys[ReadOp(known.read).getArray()][i] =
            valueOf(known, own.first, other);
      }
    Value number = b.div(b.sub(key, from), num(keysOfTile));
    Value stage = groups.stageOf(b, number);
    waitForPhase(b, groups.full(b, stage), groups.parityOf(b, number));
    return stage;
  };
  auto leave = [&](Value stage) {
    b.branch(isFirst, [&] { arrive(b, groups.empty(b, stage)); });
  };
  waitForPhase(b, groups.rowsFull(b), b.rem(groups.units, num(2)));
  Values carried;
  if (groupsOf(group.kernel).getAhead())
    carried = attendAhead(groups, own, from, to, enter, leave);
  else
    carried = b.loop(from, to, num(keysOfTile), beginSums(own),
                     [&](Value key, ValueRange before) {
                       Value stage = enter(key);
                       Values next = addTile(groups, own, key, stage, before);
                       leave(stage);
                       return next;
                     });
  b.branch(isFirst, [&] { arrive(b, groups.rowsEmpty(b)); });
  storeSums(own, carried);
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

void StripEmitter::emitInGroups(llvm::function_ref<Place()> placeOf,
                                Value units, Value parts) {
  Groups groups{GroupLayout(*attention, storage, groupsOf(group.kernel))};
  const GroupLayout &layout = groups.layout;
  int64_t numBarriers = 2 * layout.stages + 2;
  groups.memory = stageMemory(b, module);
  groups.barriers =
      sharedMemory(b, module, "barriers_" + std::to_string(numBarriers),
                   b.i64(), numBarriers);
  groups.thread = threadInBlock(b);
  b.branch(b.equal(groups.thread, num(0)), [&] {
    for (int64_t number = 0; number < numBarriers; ++number) {
      bool isFull = number < layout.stages || number == 2 * layout.stages;
      beginBarrier(b, groups.barrier(b, num(number)),
                   num(isFull ? 1 : numGroups * warpsOfGroup));
    }
    showBarriers(b);
  });
  waitForBlock(b);
  // The producer runs ahead of the consumers while stages are empty.
  auto forUnits = [&](llvm::function_ref<void(Value first, Value count,
                                              Value from, Value to)>
                          body) {
    auto unitOf = [&](Value unit, ValueRange before) {
      Value first = b.mul(enter(placeOf(), unit, parts), num(rowsOfAttention));
      Value rows = BodyEmitter(b, storage, place, 0).extent(group.rows);
      auto emitRows = [&] {
        beginPairs(first);
        Value count = b.min(num(rowsOfAttention), b.sub(rows, first));
        groups.turns = before[0];
        groups.units = before[1];
        auto [from, to] = keysBeside(first, count);
        body(first, count, from, to);
        Value tiles = b.divUp(b.sub(b.max(from, to), from), num(keysOfTile));
        return Values{b.add(before[0], tiles), b.add(before[1], num(1))};
      };
      return b.chooseAll(b.less(first, rows), emitRows,
                         [&] { return Values(before); });
    };
    Values begin(2, num(0));
    b.loop(blockNumber(b), units, numBlocks(b), begin, unitOf);
  };
  auto attendUnits = [&] {
    takeRegisters(b, registersOfAttending);
    forUnits([&](Value first, Value count, Value from, Value to) {
      attendInGroup(groups, first, count, from, to);
      for (const StripMember &member : group.members) {
        if (member.loop.empty() || isDoneByTiles(member.op))
          continue;
        waitForThreads(b, numAttending);
        emitMember(member, first, count);
      }
    });
  };
  auto fetchUnits = [&] {
    giveRegisters(b, registersOfFetching);
    b.branch(b.equal(groups.thread, num(numAttending)), [&] {
      forUnits([&](Value first, Value, Value from, Value to) {
        fetchTiles(groups, first, from, to);
      });
    });
  };
  b.branch(b.less(groups.thread, num(numAttending)), attendUnits, fetchUnits);
}

/// An exponential that is next rounded to bf16, or multiplies such a
/// value, needs only the precision of ex2.approx: its relative error is
/// 2^-22. exp(a - c) is 2^(a log2(e) - c log2(e)), by one multiply-add. A loop
/// scales the values that it carries by exactly 1 where the maximum stays, so
/// this does not apply to them.
static void approximateExponentials(func::FuncOp kernel) {
  kernel.walk([](math::ExpOp op) {
    if (!op.getType().isF32())
      return;
    KernelBuilder b(op.getLoc(), op);
    Value log2e = b.constant(op.getType(), llvm::numbers::log2e), power;
    auto difference = op.getOperand().getDefiningOp<arith::SubFOp>();
    if (difference && !isa<BlockArgument>(difference.getLhs())) {
      Value shift = b.create<arith::NegFOp>(
          b.create<arith::MulFOp>(difference.getRhs(), log2e));
      power = b.create<math::FmaOp>(difference.getLhs(), log2e, shift);
    } else {
      power = b.create<arith::MulFOp>(op.getOperand(), log2e);
    }
    auto call = b.create<LLVM::CallIntrinsicOp>(
        op.getType(), b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"),
        ValueRange{power});
    op.replaceAllUsesWith(call->getResult(0));
    op.erase();
  });
}

void GpuEmitter::emitInGroups(KernelOp op) {
  StripGroup group = stripsOf(op);
  Attention attention = *attentionIn(op);
  SmallVector<Operation *> members;
  for (const StripMember &member : group.members)
    members.push_back(member.op);
  int partsSlot = slotOf(0);
  Value units =
      main.mul(count(), main.mul(main.number(group.numPlaces()), scalar(0)));
  KernelBuilder kernel(op->getLoc(), module.getContext());
  func::FuncOp function =
      beginKernel(kernel, members.front(),
                  "strips." + joinedLabels(members) + ".copies.bf16",
                  {kernel.pointer(), kernel.i64()});
  if (notes) {
    KernelNote &note = notes->back();
    note.tileRows = rowsOfAttention;
    note.isRounded = note.readsCopies = note.isByGroups = true;
    noteKeys(note, attention);
  }
  Value own = function.getArgument(0);
  kernel.setTeam(blockTeam(kernel, numAttending));
  StripEmitter strips(kernel, storage, group, real, module);
  strips.emitInGroups([&] { return placeOf(kernel, members.front(), own); },
                      function.getArgument(1), kernel.slot(own, partsSlot));
  kernel.create<func::ReturnOp>();
  approximateExponentials(function);
  callKernel(
      function, units, groupThreadsOfAttention, 1,
      main.number(GroupLayout(attention, storage, groupsOf(op)).bytes()));
  function->setAttr(registersName, main.getI64IntegerAttr(registersOfBlock));
  noteOthers(members);
}
