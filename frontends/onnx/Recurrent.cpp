//===- Recurrent.cpp - RNN, GRU and LSTM ----------------------------------===//
//
// A direction is a recurrence of the language. The inputs' contribution to all
// gates is one product before it. The state is read at the previous place, or,
// backward, at the next one. Weights keep the file's stacking.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Importer.h"

#include <fmt/format.h>

using namespace fovea::onnx;

namespace {

/// One node. Gates are stacked along the rows of W and R, in the operator's
/// order.
class Recurrence {
public:
  Recurrence(Importer &importer, const Node &node, int gates)
      : importer(importer), node(node), gates(gates) {}

  bool run();

private:
  bool check();
  bool readActivations();
  void direction(int number, bool isBackward);
  std::string activated(int number, int which, const std::string &text) const;
  std::string within(const std::string &step, const std::string &example,
                     const std::string &text,
                     const std::string &otherwise) const;
  bool giveOutputs();

  /// Element `index` of the gate `gate` of weights with a row for each.
  std::string place(int gate, const std::string &index) const {
    return gate == 0
               ? index
               : fmt::format("{} + {}", (hidden * Size(gate)).text(), index);
  }

  Importer &importer;
  const Node &node;
  int gates;
  bool isFirstBatch = false; // layout 1
  bool resetsLast = false;   // of a GRU: linear_before_reset
  int numDirections = 1;
  Size steps, batch, inputs, hidden;
  std::vector<std::string> activations; // of each direction, one for each use
  std::vector<Value> states, cells;     // of each direction
};

} // namespace

//===----------------------------------------------------------------------===//
// What is supported
//===----------------------------------------------------------------------===//

bool Recurrence::check() {
  const Value *x = node.input(0), *w = node.input(1), *r = node.input(2);
  isFirstBatch = node.integer("layout", 0) != 0;
  steps = x->shape[isFirstBatch ? 1 : 0];
  batch = x->shape[isFirstBatch ? 0 : 1];
  inputs = x->shape[2];
  hidden = r->shape[2];
  std::optional<int64_t> directions = w->shape[0].value();
  if (!directions || *directions < 1 || *directions > 2 ||
      !(w->shape[1] == hidden * Size(gates)) || !(w->shape[2] == inputs) ||
      !(r->shape[1] == w->shape[1]))
    return importer.refuse(node,
                           fmt::format("W {} and R {} do not match X {}",
                                       shapeText(w->shape), shapeText(r->shape),
                                       shapeText(x->shape)));
  numDirections = static_cast<int>(*directions);
  bool isBoth = node.text("direction", "forward") == "bidirectional";
  if (isBoth != (numDirections == 2))
    return importer.refuse(node, fmt::format("its direction is '{}', but W has "
                                             "{}",
                                             node.text("direction", "forward"),
                                             numDirections));
  resetsLast = node.integer("linear_before_reset", 0) != 0;
  if (node.attribute("clip"))
    return importer.refuse(node, "'clip' is not supported");
  if (node.integer("input_forget", 0) != 0)
    return importer.refuse(node, "'input_forget' is not supported");
  const Value *count = node.input(4);
  if (count && !importer.areEqual(batch, count->shape[0]))
    return importer.refuse(
        node, fmt::format("'{}' {} has no length for each "
                          "of {} sequences",
                          count->name, shapeText(count->shape), batch.text()));
  return readActivations();
}

bool Recurrence::readActivations() {
  std::vector<std::string> usual =
      gates == 4   ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
      : gates == 3 ? std::vector<std::string>{"Sigmoid", "Tanh"}
                   : std::vector<std::string>{"Tanh"};
  activations = node.texts("activations");
  size_t count = usual.size() * numDirections;
  while (activations.size() < count)
    activations.push_back(usual[activations.size() % usual.size()]);
  for (const std::string &name : activations)
    if (name != "Sigmoid" && name != "Tanh" && name != "Relu")
      return importer.refuse(
          node, "the activation '" + name +
                    "' is not supported; Sigmoid, Tanh and Relu are");
  return true;
}

std::string Recurrence::activated(int number, int which,
                                  const std::string &text) const {
  size_t each = activations.size() / numDirections;
  const std::string &name = activations[number * each + which];
  return (name == "Sigmoid" ? "sigmoid"
          : name == "Tanh"  ? "tanh"
                            : "relu") +
         ("(" + text + ")");
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

void Recurrence::direction(int number, bool isBackward) {
  const Value x = node.at(0), w = node.at(1), r = node.at(2);
  const Value *bias = node.input(3), *first = node.input(5),
              *firstCell = gates == 4 ? node.input(6) : nullptr,
              *peephole = gates == 4 ? node.input(7) : nullptr;
  std::string d = std::to_string(number);
  ElementType type = x.type;
  auto biasOf = [&](int gate, bool ofState, const std::string &index) {
    return bias ? importer.read(*bias,
                                {d, place(gate + (ofState ? gates : 0), index)})
                : std::string("0.0");
  };
  // In a GRU, the bias of the candidate may be inside the reset gate.
  auto isApart = [&](int gate) {
    return gates == 3 && gate == 2 && resetsLast;
  };
  // The inputs' contribution to each gate, with the biases.
  std::vector<Value> given;
  for (int gate = 0; gate < gates; ++gate)
    given.push_back(importer.helper(
        node, type, {steps, batch, hidden}, [&](const Indices &at) {
          std::string element = isFirstBatch
                                    ? importer.read(x, {at[1], at[0], "k0"})
                                    : importer.read(x, {at[0], at[1], "k0"});
          return fmt::format("sum[k0 < {}]({} * {}) + {} + {}", inputs.text(),
                             element,
                             importer.read(w, {d, place(gate, at[2]), "k0"}),
                             biasOf(gate, false, at[2]),
                             isApart(gate) ? "0.0" : biasOf(gate, true, at[2]));
        }));
  Shape shape = {steps, batch, hidden};
  Value state = importer.declare(node, "state", type, shape);
  Value cell = gates == 4 ? importer.declare(node, "cell", type, shape) : state;
  // The value at the previous place.
  auto before = [&](const Value &value, const Value *initial,
                    const Indices &at) {
    std::string t = at[0] + (isBackward ? " + 1" : " - 1");
    Indices own =
        isFirstBatch ? Indices{at[1], d, at[2]} : Indices{d, at[1], at[2]};
    return fmt::format("({} ?? {})", importer.read(value, {t, at[1], at[2]}),
                       initial ? importer.read(*initial, own) : "0.0");
  };
  auto fromState = [&](int gate, const Indices &at) {
    return fmt::format("sum[k0 < {}]({} * {})", hidden.text(),
                       before(state, first, {at[0], at[1], "k0"}),
                       importer.read(r, {d, place(gate, at[2]), "k0"}));
  };
  auto sum = [&](int gate, const Indices &at) {
    return importer.read(given[gate], at) + " + " + fromState(gate, at);
  };
  // After the end of its sequence, an example keeps its state.
  auto define = [&](const Value &value, const Value *initial,
                    const Body &body) {
    importer.define(value, [&](const Indices &at) {
      return within(at[0], at[1], body(at), before(value, initial, at));
    });
  };
  auto helper = [&](const Body &body) {
    return importer.helper(node, type, shape, body);
  };
  if (gates == 1) {
    define(state, first,
           [&](const Indices &at) { return activated(number, 0, sum(0, at)); });
  } else if (gates == 3) {
    // Rows z, r, h.
    auto gate = [&](int which) {
      return helper([&](const Indices &at) {
        return activated(number, 0, sum(which, at));
      });
    };
    Value update = gate(0), reset = gate(1);
    Value candidate = helper([&](const Indices &at) {
      std::string inner =
          resetsLast
              ? fmt::format("{} * ({} + {})", importer.read(reset, at),
                            fromState(2, at), biasOf(2, true, at[2]))
              : fmt::format("sum[k0 < {}]({} * {} * {})", hidden.text(),
                            importer.read(reset, {at[0], at[1], "k0"}),
                            before(state, first, {at[0], at[1], "k0"}),
                            importer.read(r, {d, place(2, at[2]), "k0"}));
      return activated(number, 1, importer.read(given[2], at) + " + " + inner);
    });
    define(state, first, [&](const Indices &at) {
      std::string z = importer.read(update, at);
      return fmt::format("(1.0 - {}) * {} + {} * {}", z,
                         importer.read(candidate, at), z,
                         before(state, first, at));
    });
  } else {
    // Rows i, o, f, c; peepholes i, o, f.
    auto gate = [&](int which, const Value &looks, bool isNow) {
      return helper([&](const Indices &at) {
        std::string text = sum(which, at);
        if (peephole)
          text += fmt::format(
              " + {} * {}", importer.read(*peephole, {d, place(which, at[2])}),
              isNow ? importer.read(looks, at) : before(looks, firstCell, at));
        return activated(number, 0, text);
      });
    };
    Value in = gate(0, cell, false), forget = gate(2, cell, false);
    Value candidate = helper(
        [&](const Indices &at) { return activated(number, 1, sum(3, at)); });
    define(cell, firstCell, [&](const Indices &at) {
      return fmt::format("{} * {} + {} * {}", importer.read(forget, at),
                         before(cell, firstCell, at), importer.read(in, at),
                         importer.read(candidate, at));
    });
    Value out = gate(1, cell, true);
    define(state, first, [&](const Indices &at) {
      return fmt::format("{} * {}", importer.read(out, at),
                         activated(number, 2, importer.read(cell, at)));
    });
  }
  states.push_back(state);
  cells.push_back(cell);
}

/// `text` where the sequence of an example has a step, or else `otherwise`.
std::string Recurrence::within(const std::string &step,
                               const std::string &example,
                               const std::string &text,
                               const std::string &otherwise) const {
  const Value *count = node.input(4);
  if (!count)
    return text;
  return fmt::format("if {} < {} then {} else {}", step,
                     importer.read(*count, {example}), text, otherwise);
}

/// Y at every step, and the last of each direction.
bool Recurrence::giveOutputs() {
  ElementType type = node.at(0).type;
  Size both(numDirections);
  bool isBackward = node.text("direction", "forward") == "reverse";
  auto choose = [&](const std::string &d, auto read) {
    return numDirections == 1
               ? read(0)
               : fmt::format("if {} == 0 then {} else {}", d, read(0), read(1));
  };
  Shape all = isFirstBatch ? Shape{batch, steps, both, hidden}
                           : Shape{steps, both, batch, hidden};
  if (!importer.give(node, 0, type, all, [&](const Indices &at) {
        const std::string &t = at[isFirstBatch ? 1 : 0],
                          &b = at[isFirstBatch ? 0 : 2],
                          &d = at[isFirstBatch ? 2 : 1];
        return within(t, b,
                      choose(d,
                             [&](int number) {
                               return importer.read(states[number],
                                                    {t, b, at[3]});
                             }),
                      "0.0");
      }))
    return false;
  Shape last =
      isFirstBatch ? Shape{batch, both, hidden} : Shape{both, batch, hidden};
  for (size_t output = 1; output < (gates == 4 ? 3 : 2); ++output) {
    const std::vector<Value> &from = output == 1 ? states : cells;
    if (!importer.give(node, output, type, last, [&](const Indices &at) {
          const std::string &b = at[isFirstBatch ? 0 : 1],
                            &d = at[isFirstBatch ? 1 : 0];
          return choose(d, [&](int number) {
            bool endsFirst = isBackward || number == 1;
            std::string end = endsFirst ? "0" : (steps - Size(1)).text();
            return importer.read(from[number], {end, b, at[2]});
          });
        }))
      return false;
  }
  return true;
}

bool Recurrence::run() {
  if (!check())
    return false;
  bool isBackward = node.text("direction", "forward") == "reverse";
  for (int number = 0; number < numDirections; ++number)
    direction(number, isBackward || number == 1);
  return giveOutputs();
}

template <int gates>
static bool importRecurrence(Importer &importer, const Node &node) {
  return Recurrence(importer, node, gates).run();
}

void fovea::onnx::addRecurrent(Handlers &handlers) {
  handlers["RNN"] = importRecurrence<1>;
  handlers["GRU"] = importRecurrence<3>;
  handlers["LSTM"] = importRecurrence<4>;
}
