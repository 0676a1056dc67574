//===- TrainOptions.cpp - what a train block asks for ---------------------===//

#include "runtime/train/TrainOptions.h"
#include "runtime/Functions.h"
#include "runtime/device/Device.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>

using namespace fovea::runtime;

double fovea::runtime::rateAt(const RateOptions &options, int64_t update) {
  double t = static_cast<double>(update), n = options.n, rate = options.peak;
  switch (options.kind) {
  case RateOptions::Constant:
    break;
  case RateOptions::Noam:
    rate *= std::min(1 / std::sqrt(t), t / (n * std::sqrt(n)));
    break;
  case RateOptions::InverseSqrt:
    rate *= std::min(t / n, std::sqrt(n / t));
    break;
  case RateOptions::Cosine:
    rate = options.floor + (rate - options.floor) / 2 *
                               (1 + cosOfTurns(std::min(t - 1, n) / n / 2));
    break;
  case RateOptions::Step:
    rate *= powOf(options.factor, std::floor((t - 1) / n));
    break;
  }
  return options.warmup > 0 ? rate * std::min(1.0, t / options.warmup) : rate;
}

//===----------------------------------------------------------------------===//
// Values: a word, or a call with numbers
//===----------------------------------------------------------------------===//

namespace {

/// `adam(0.9, b2 = 0.98)`.
struct Call {
  std::string name;
  struct Argument {
    std::string name, text; // an empty name: by its place
  };
  std::vector<Argument> arguments;
};

/// An argument that a call may have, its target, and its minimum.
struct Parameter {
  const char *name;
  double *value;
  double least = 0, below = HUGE_VAL;
  bool isPositive = false;
};

class Reader {
public:
  Reader(const std::map<std::string, std::string> &entries,
         const std::map<std::string, int64_t> &sizes, TrainOptions &options)
      : entries(entries), sizes(sizes), options(options) {}

  Status run();

private:
  Status readOptimiser(const std::string &text);
  Status readRate(const std::string &text);
  Status readBatch(const std::string &text);
  Status readEarlyStop(const std::string &text);
  Status readNumber(const std::string &entry, double least, double &value);
  Status readWhole(const std::string &entry, int64_t &value);
  Status take(const std::string &entry, const Call &call,
              std::vector<Parameter> parameters, size_t needed = 0);
  std::optional<double> numberOf(const std::string &text) const;
  static Status mistake(const std::string &entry, const std::string &text) {
    return Status::error("train { " + entry + " = .. }: " + text);
  }

  const std::map<std::string, std::string> &entries;
  const std::map<std::string, int64_t> &sizes;
  TrainOptions &options;
};

} // namespace

static std::string trim(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t\n\r");
  if (begin == std::string::npos)
    return "";
  return text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}

static Call callOf(const std::string &text) {
  Call call;
  size_t open = text.find('(');
  call.name = trim(text.substr(0, open));
  if (open == std::string::npos)
    return call;
  std::string inside = text.substr(open + 1);
  if (size_t close = inside.rfind(')'); close != std::string::npos)
    inside.resize(close);
  int depth = 0;
  std::string part;
  auto finish = [&] {
    if (trim(part).empty())
      return;
    size_t equals = part.find('=');
    Call::Argument &argument = call.arguments.emplace_back();
    if (equals != std::string::npos)
      argument.name = trim(part.substr(0, equals));
    argument.text =
        trim(equals == std::string::npos ? part : part.substr(equals + 1));
    part.clear();
  };
  for (char c : inside) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0)
      finish();
    else
      part += c;
  }
  finish();
  return call;
}

std::optional<double> Reader::numberOf(const std::string &text) const {
  if (auto size = sizes.find(text); size != sizes.end())
    return static_cast<double>(size->second);
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !std::isfinite(value))
    return std::nullopt;
  return value;
}

Status Reader::take(const std::string &entry, const Call &call,
                    std::vector<Parameter> parameters, size_t needed) {
  size_t place = 0;
  for (const Call::Argument &argument : call.arguments) {
    auto found = argument.name.empty()
                     ? parameters.begin() + std::min(place++, parameters.size())
                     : std::find_if(parameters.begin(), parameters.end(),
                                    [&](const Parameter &parameter) {
                                      return argument.name == parameter.name;
                                    });
    if (found == parameters.end()) {
      std::string names;
      for (const Parameter &parameter : parameters)
        names += (names.empty() ? "" : ", ") + std::string(parameter.name);
      return mistake(
          entry,
          fmt::format("'{}' takes ({}), not '{}'", call.name, names,
                      argument.name.empty() ? argument.text : argument.name));
    }
    std::optional<double> value = numberOf(argument.text);
    if (!value)
      return mistake(entry, fmt::format("'{}' is neither a number nor a dim",
                                        argument.text));
    if (found->isPositive && !(*value > 0))
      return mistake(entry, fmt::format("'{}' must be above 0, not {}",
                                        found->name, *value));
    if (!(*value >= found->least && *value < found->below))
      return mistake(
          entry, fmt::format("'{}' must be at least {}{}, not {}", found->name,
                             found->least,
                             found->below == HUGE_VAL
                                 ? ""
                                 : fmt::format(" and below {}", found->below),
                             *value));
    *found->value = *value;
  }
  if (call.arguments.size() < needed)
    return mistake(entry, fmt::format("'{}' needs '{}'", call.name,
                                      parameters[call.arguments.size()].name));
  return Status::success();
}

Status Reader::readNumber(const std::string &entry, double least,
                          double &value) {
  auto found = entries.find(entry);
  if (found == entries.end())
    return Status::success();
  std::optional<double> number = numberOf(trim(found->second));
  if (!number || !(*number >= least))
    return mistake(entry, fmt::format("takes a number of at least {}, not '{}'",
                                      least, found->second));
  value = *number;
  return Status::success();
}

Status Reader::readWhole(const std::string &entry, int64_t &value) {
  double number = static_cast<double>(value);
  if (Status status = readNumber(entry, 1, number); status.failed())
    return status;
  if (number != std::floor(number) || number > 1e15)
    return mistake(entry, fmt::format("takes a whole number, not {}", number));
  value = static_cast<int64_t>(number);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

Status Reader::readOptimiser(const std::string &text) {
  OptimiserOptions &o = options.optimiser;
  Call call = callOf(text);
  double &rate = options.rate.peak;
  Parameter first{"b1", &o.b1, 0, 1}, second{"b2", &o.b2, 0, 1};
  Parameter eps{"eps", &o.eps};
  if (call.name == "adam") {
    o.rule = Rule::Adam;
    return take("optimiser", call, {first, second, eps});
  }
  if (call.name == "adamw") {
    o.rule = Rule::AdamW;
    o.decay = 0.01;
    return take("optimiser", call, {first, second, eps, {"decay", &o.decay}});
  }
  if (call.name == "adadelta") {
    o.rule = Rule::Adadelta;
    o.b2 = 0.95;
    o.eps = 1e-6;
    rate = 1;
    return take("optimiser", call, {{"rho", &o.b2, 0, 1}, eps});
  }
  if (call.name == "adagrad") {
    o.rule = Rule::Adagrad;
    o.eps = 1e-10;
    rate = 0.01;
    return take("optimiser", call, {eps});
  }
  if (call.name == "rmsprop") {
    o.rule = Rule::RmsProp;
    o.b1 = 0;
    o.b2 = 0.9;
    return take("optimiser", call,
                {{"rho", &o.b2, 0, 1}, eps, {"momentum", &o.b1, 0, 1}});
  }
  if (call.name == "momentum") {
    o.rule = Rule::Momentum;
    rate = 0.01;
    return take("optimiser", call, {{"m", &o.b1, 0, 1}});
  }
  if (call.name == "sgd") {
    o.rule = Rule::Sgd;
    rate = 0.1;
    return take("optimiser", call, {{"rate", &rate}});
  }
  return mistake("optimiser",
                 fmt::format("unknown value '{}' (expected adam, adamw, "
                             "adadelta, rmsprop, adagrad, momentum or sgd)",
                             call.name));
}

Status Reader::readRate(const std::string &text) {
  RateOptions &o = options.rate;
  if (std::optional<double> number = numberOf(trim(text))) {
    if (*number < 0)
      return mistake("rate",
                     fmt::format("a rate must be at least 0, not {}", text));
    o.peak = *number;
    return Status::success();
  }
  Call call = callOf(text);
  Parameter count{"n", &o.n, 1}, peak{"peak", &o.peak, 0, HUGE_VAL, true};
  if (call.name == "noam") {
    double width = 1, scale = 1;
    o.kind = RateOptions::Noam;
    Status status = take(
        "rate", call,
        {{"width", &width, 1}, count, {"scale", &scale, 0, HUGE_VAL, true}}, 2);
    o.peak = scale / std::sqrt(width);
    return status;
  }
  if (call.name == "inverse_sqrt") {
    o.kind = RateOptions::InverseSqrt;
    return take("rate", call, {count, peak}, 1);
  }
  if (call.name == "cosine") {
    o.kind = RateOptions::Cosine;
    return take("rate", call, {count, peak, {"floor", &o.floor}}, 1);
  }
  if (call.name == "step") {
    o.kind = RateOptions::Step;
    // A rate that grows step by step has no end.
    return take("rate", call, {count, {"factor", &o.factor, 0, 1, true}, peak},
                1);
  }
  return mistake("rate", fmt::format("unknown value '{}' (expected a number, "
                                     "noam, inverse_sqrt, cosine or step)",
                                     call.name));
}

/// `64`, or `tokens(4000)`.
Status Reader::readBatch(const std::string &text) {
  Call call = callOf(text);
  if (call.name != "tokens" && call.name != "examples")
    return readWhole("batch", options.batch);
  double count = 1;
  if (Status status = take("batch", call, {{"n", &count, 1, 1e15}}, 1);
      status.failed())
    return status;
  options.batch = static_cast<int64_t>(count);
  options.countsTokens = call.name == "tokens";
  return Status::success();
}

/// `perplexity`, `loss(3)`, `bleu(tgt)`, `bleu(tgt, patience = 3)`.
Status Reader::readEarlyStop(const std::string &text) {
  EarlyStop &o = options.earlyStop;
  Call call = callOf(text);
  o.metric = call.name;
  if (call.name == "none") {
    o.metric.clear();
    return Status::success();
  }
  if (std::optional<double> number = numberOf(call.name)) {
    call = {"loss", {{"patience", call.name}}};
    o.metric = "loss";
  }
  // The metric comes first, if one is named.
  for (const Call::Argument &argument : call.arguments)
    if (argument.name.empty() && !numberOf(argument.text)) {
      o.metric += "(" + argument.text + ")";
      break;
    }
  std::erase_if(call.arguments, [&](const Call::Argument &argument) {
    return argument.name.empty() && !numberOf(argument.text);
  });
  double patience = static_cast<double>(o.patience);
  if (Status status =
          take("early_stop", call, {{"patience", &patience, 1, 1e15}});
      status.failed())
    return status;
  o.patience = static_cast<int64_t>(patience);
  return Status::success();
}

Status Reader::run() {
  auto read = [&](const char *entry, auto function) {
    auto found = entries.find(entry);
    return found == entries.end() ? Status::success()
                                  : (this->*function)(found->second);
  };
  // The optimiser sets its usual rate.
  for (Status status :
       {read("optimiser", &Reader::readOptimiser),
        read("rate", &Reader::readRate), read("batch", &Reader::readBatch),
        read("early_stop", &Reader::readEarlyStop),
        readNumber("clip", 0, options.clip),
        readNumber("column_norm", 0, options.columnNorm),
        readNumber("decay", 0, options.optimiser.decay),
        readNumber("warmup", 0, options.rate.warmup),
        readWhole("accumulate", options.accumulate)})
    if (status.failed())
      return status;
  for (const auto &[entry, text] : entries) {
    if (!entry.starts_with("clip_value"))
      continue;
    double value = 0;
    if (Status status = readNumber(entry, 0, value); status.failed())
      return status;
    size_t open = entry.find('[');
    std::string name = open == std::string::npos
                           ? ""
                           : entry.substr(open + 1, entry.size() - open - 2);
    options.clipValue[name] = value;
  }
  if (auto found = entries.find("noise"); found != entries.end())
    if (Status status = take(
            "noise", callOf(found->second),
            {{"deviation", &options.noise}, {"after", &options.noiseAfter}}, 1);
        status.failed())
      return status;
  if (auto found = entries.find("polyak"); found != entries.end()) {
    Status status = readNumber("polyak", 0, options.polyak);
    if (status.failed() || options.polyak >= 1)
      return mistake("polyak", "takes a number of at least 0 and less than 1, "
                               "not '" +
                                   found->second + "'");
  }
  if (auto found = entries.find("optimiser_state"); found != entries.end())
    options.hasBrainState = found->second == "bf16";
  if (options.hasBrainState && Device::current())
    return mistake("optimiser_state", "takes f32 on a GPU, not 'bf16'");
  if (auto found = entries.find("lazy"); found != entries.end())
    options.lazy = found->second == "true";
  if (options.isLazy() && Device::current())
    return mistake("lazy", "takes false on a GPU, not 'true'");
  if (options.isLazy() && options.columnNorm > 0)
    return mistake("lazy", "does not go with 'column_norm', which changes all "
                           "rows");
  if (auto found = entries.find("bucket"); found != entries.end()) {
    options.buckets = found->second != "none";
    bool isLength = options.buckets && found->second != "all";
    options.bucketLength = isLength ? found->second : "";
  }
  return Status::success();
}

Status fovea::runtime::readTrainOptions(
    const std::map<std::string, std::string> &entries,
    const std::map<std::string, int64_t> &sizes, TrainOptions &options) {
  return Reader(entries, sizes, options).run();
}

//===----------------------------------------------------------------------===//
// Options as texts
//===----------------------------------------------------------------------===//

std::string_view fovea::runtime::nameOf(Rule rule) {
  switch (rule) {
  case Rule::Sgd:
    return "sgd";
  case Rule::Momentum:
    return "momentum";
  case Rule::Adagrad:
    return "adagrad";
  case Rule::RmsProp:
    return "rmsprop";
  case Rule::Adadelta:
    return "adadelta";
  case Rule::Adam:
    return "adam";
  case Rule::AdamW:
    return "adamw";
  }
  return "";
}

static std::string textOf(const OptimiserOptions &o) {
  std::string_view name = nameOf(o.rule);
  switch (o.rule) {
  case Rule::Sgd:
    return std::string(name);
  case Rule::Momentum:
    return fmt::format("{}({})", name, o.b1);
  case Rule::Adagrad:
    return fmt::format("{}({})", name, o.eps);
  case Rule::RmsProp:
    return fmt::format("{}({}, {}, {})", name, o.b2, o.eps, o.b1);
  case Rule::Adadelta:
    return fmt::format("{}({}, {})", name, o.b2, o.eps);
  case Rule::Adam:
  case Rule::AdamW:
    return fmt::format("{}({}, {}, {})", name, o.b1, o.b2, o.eps);
  }
  return "";
}

static std::string textOf(const RateOptions &o) {
  switch (o.kind) {
  case RateOptions::Constant:
    return fmt::format("{}", o.peak);
  case RateOptions::Noam:
    return fmt::format("noam(n = {}, peak = {})", o.n, o.peak);
  case RateOptions::InverseSqrt:
    return fmt::format("inverse_sqrt({}, {})", o.n, o.peak);
  case RateOptions::Cosine:
    return fmt::format("cosine({}, {}, {})", o.n, o.peak, o.floor);
  case RateOptions::Step:
    return fmt::format("step({}, {}, {})", o.n, o.factor, o.peak);
  }
  return "";
}

std::map<std::string, std::string>
fovea::runtime::describe(const TrainOptions &options) {
  auto number = [](double value) {
    return value == 0 ? std::string("none") : fmt::format("{}", value);
  };
  const EarlyStop &stop = options.earlyStop;
  std::map<std::string, std::string> texts = {
      {"optimiser", textOf(options.optimiser)},
      {"rate", textOf(options.rate)},
      {"warmup", number(options.rate.warmup)},
      {"batch", fmt::format("{} {}", options.batch,
                            options.countsTokens ? "tokens" : "examples")},
      {"accumulate", std::to_string(options.accumulate)},
      {"bucket", !options.buckets               ? "none"
                 : options.bucketLength.empty() ? "all"
                                                : options.bucketLength},
      {"clip", number(options.clip)},
      {"decay", number(options.optimiser.decay)},
      {"column_norm", number(options.columnNorm)},
      {"polyak", number(options.polyak)},
      {"optimiser_state", options.hasBrainState ? "bf16" : "none"},
      {"lazy", options.isLazy() ? "true" : "none"},
      {"rounding", options.roundsWeights ? "bf16" : "none"},
      // Trainings of earlier versions have noise of another kind.
      {"noise", number(options.noise) +
                    (options.noise > 0 ? " in blocks of 4" : "") +
                    (options.noiseAfter > 0
                         ? fmt::format(" after {}", options.noiseAfter)
                         : "")},
      {"early_stop",
       stop.metric.empty()
           ? "none"
           : fmt::format("{}, patience {}", stop.metric, stop.patience)}};
  std::string &clips = texts["clip_value"];
  for (const auto &[name, limit] : options.clipValue)
    clips += fmt::format("{}{}{}", clips.empty() ? "" : ", ",
                         name.empty() ? "" : name + " = ", limit);
  if (clips.empty())
    clips = "none";
  return texts;
}

bool TrainOptions::takesRows() const {
  // Adagrad without eps divides zero by zero.
  bool keepsNoMean = optimiser.rule == Rule::Sgd ||
                     (optimiser.rule == Rule::Adagrad && optimiser.eps > 0);
  bool leavesRows = keepsNoMean && optimiser.decay == 0;
  return columnNorm == 0 && lazy.value_or(leavesRows);
}
