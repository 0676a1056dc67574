//===- ForeignWords.cpp - what others call it -----------------------------===//
//
// The words that users of PyTorch, Keras and NumPy write first, and what they
// write here. Only words that the language does not have: it is asked when a
// name is not defined.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/ForeignWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace fovea;
using namespace fovea::fov;
using llvm::StringRef;

namespace {
/// Words in lower case and without '_', and what to write for them.
struct Entry {
  StringRef words;
  StringRef ours;
};
} // namespace

static constexpr Entry modules[] = {
    {"linear dense fullyconnected fc affine", "linear(n)"},
    {"embedding embed lookup embeddingbag", "embedding(n)"},
    {"gru grucell", "gru(n)"},
    {"lstm lstmcell", "lstm(n)"},
    {"rnn rnncell simplernn elman", "rnn(n)"},
    {"conv1d convolution1d", "conv1d(n, width)"},
    {"conv2d convolution2d conv convolution", "conv2d(n, width)"},
    {"conv3d convolution3d", "conv3d(n, width)"},
    {"layernorm layernormalization norm batchnorm batchnorm1d batchnorm2d "
     "batchnormalization groupnorm rmsnorm",
     "layer_norm"},
    {"parameter weight weights variable var array", "vector(n), matrix(n, m) "
                                                    "or tensor(n, m, k)"},
    {"multiheadattention attention selfattention transformerencoder "
     "transformerdecoder transformer",
     "its equations: a[t,i] = softmax[i](dot(q[t], k[i]) / sqrt(D)), "
     "c[t] = sum[i](a[t,i] * v[i])"},
    {"sequential modulelist", "one 'param' for each layer, or a family: param "
                              "layer[l < L] : linear(n)"},
};

static constexpr Entry expressions[] = {
    {"cat concat concatenate hstack", "a ++ b"},
    {"stack", "stack[k](x[k])"},
    {"matmul mm bmm mv einsum tensordot", "W @ x, or sum[k](a[i,k] * b[k,j])"},
    {"inner vdot", "dot(a, b)"},
    {"outer", "a[i] * b[j]"},
    {"transpose permute swapaxes t", "its indices in another order: x[j,i]"},
    {"reshape view rearrange unflatten", "fold(x, n)"},
    {"flatten", "concat[i](x[i])"},
    {"squeeze unsqueeze expanddims expand repeat tile broadcastto",
     "the indices that are meant: nothing is broadcast"},
    {"split chunk", "fold(x, n), or cut(x, n, m)"},
    {"flip reverse", "x[S-1-i]"},
    {"roll shift", "x[i-1] ?? 0"},
    {"pad zeropad2d", "x[i] ?? 0"},
    {"gather indexselect take", "x[place]"},
    {"arange range linspace len length size shape", "an index: i < N"},
    {"zeroslike", "zeros(n)"},
    {"oneslike", "ones(n)"},
    {"onehot tocategorical", "onehot(x)"},
    {"where select cond", "if c then a else b"},
    {"maskedfill", "softmax[i where m[i]](x[i])"},
    {"pow power", "x^y"},
    {"square", "x^2"},
    {"rsqrt", "1 / sqrt(x)"},
    {"norm l2norm", "sqrt(dot(x, x))"},
    {"average reducemean", "mean[i](x[i])"},
    {"reducesum", "sum[i](x[i])"},
    {"reducemax amax maximum", "max[i](x[i]), or max(a, b)"},
    {"reducemin amin minimum", "min[i](x[i]), or min(a, b)"},
    {"logsoftmax", "log_softmax(x)"},
    {"cumulativesum", "cumsum[i](x[i])"},
    {"silu swish", "x * sigmoid(x)"},
    {"leakyrelu", "max(x, 0.01 * x)"},
    {"elu", "max(x, 0) + exp(min(x, 0)) - 1"},
    {"logsigmoid", "-softplus(-x)"},
    {"log1p", "log(1 + x)"},
    {"expm1", "exp(x) - 1"},
    {"sigm logistic expit", "sigmoid(x)"},
    {"ln", "log(x)"},
    {"fabs absolute", "abs(x)"},
    {"clip clamp", "clamp(x, low, high)"},
    {"detach stopgradient nograd", "stop(x)"},
    {"cosinesimilarity", "cosine(a, b)"},
    {"maxpool2d maxpooling2d", "max_pool2d(x, w)"},
    {"maxpool1d maxpooling1d", "max[j < w](x[w*i + j])"},
    {"avgpool2d averagepooling2d avgpool1d", "mean[j < w](x[w*i + j])"},
    {"crossentropyloss crossentropy nllloss softmaxcrossentropy "
     "categoricalcrossentropy sparsecategoricalcrossentropy "
     "softmaxcrossentropywithlogits",
     "y ~ categorical(logits)"},
    {"bceloss bcewithlogitsloss binarycrossentropy "
     "binarycrossentropywithlogits",
     "y ~ bernoulli(logit = x)"},
    {"mseloss meansquarederror mse", "y ~ normal(x, 1), or penalty "
                                     "sum[i]((x[i] - y[i])^2)"},
    {"l1loss meanabsoluteerror mae", "penalty sum[i](abs(x[i] - y[i]))"},
    {"kldiv kldivloss", "penalty sum[i](p[i] * (log(p[i]) - log(q[i])))"},
    {"none null nil", "zeros(n), or leave it out"},
    {"nan", "a number"},
    {"self this", "names without a prefix"},
    {"nn torch f keras layers tf np jnp jax functional numpy",
     "names without a prefix"},
};

static constexpr Entry types[] = {
    {"float float32 float64 double number scalar tensor array ndarray vector "
     "matrix",
     "real, or real(n)"},
    {"bool boolean flag mask", "bit"},
    {"integer long int32 int64 uint8 index", "int"},
    {"str string text words", "sentence"},
    {"word symbol char character ids id", "token"},
    {"label category categorical enum target", "class(n)"},
};

static constexpr Entry distributions[] = {
    {"softmax crossentropy crossentropyloss multinomial discrete logits "
     "categoricalcrossentropy",
     "categorical(logits)"},
    {"sigmoid binary bce bceloss bcewithlogitsloss binarycrossentropy",
     "bernoulli(logit = x)"},
    {"gaussian mse mseloss multivariatenormal", "normal(mean, deviation)"},
    {"gmm mixtureofgaussians mdn", "mixture[k](logit = a[k], ..)"},
};

static constexpr Entry trainOptions[] = {
    {"lr learningrate stepsize eta schedule scheduler lrscheduler",
     "rate = ..."},
    {"batchsize minibatch", "batch = ..."},
    {"optimizer optim", "optimiser = ..."},
    {"gradclip clipnorm maxnorm clipgradnorm gradientclipping maxgradnorm",
     "clip = ..."},
    {"weightdecay l2 regularization regularisation", "decay = ..."},
    {"labelsmoothing smoothing", "smooth = ..."},
    {"patience earlystopping", "early_stop = ..."},
    {"initializer initialiser initialization initialisation", "init = ..."},
    {"warmupsteps numwarmupsteps", "warmup = ..."},
    {"gradientaccumulation accumulatesteps gradaccum", "accumulate = ..."},
    {"loss criterion", "a '~' or a 'penalty' outside of train { }"},
    {"epochs epoch numepochs maxepochs steps", "it on the command line: "
                                               "fovea train --epochs 10"},
    {"dropout", "dropout(x, 0.1) in an equation"},
    {"metrics", "a 'metric' outside of train { }"},
};

static constexpr Entry decodeOptions[] = {
    {"beamsize numbeams beamwidth k", "beam = ..."},
    {"maxlength maxlen maxtokens maxnewtokens", "longest = ..."},
    {"minlength minlen", "shortest = ..."},
    {"lengthpenalty alpha lengthnormalisation", "normalise = gnmt(0.6)"},
};

static llvm::ArrayRef<Entry> entriesOf(WordPlace place) {
  switch (place) {
  case WordPlace::Expression:
    return expressions;
  case WordPlace::Module:
    return modules;
  case WordPlace::Type:
    return types;
  case WordPlace::Distribution:
    return distributions;
  case WordPlace::Train:
    return trainOptions;
  case WordPlace::Decode:
    return decodeOptions;
  }
  llvm_unreachable("every place is listed");
}

std::string fovea::fov::ourWord(StringRef word, WordPlace place) {
  size_t dot = word.rfind('.');
  std::string plain;
  for (char letter : dot == StringRef::npos ? word : word.drop_front(dot + 1))
    if (letter != '_')
      plain += llvm::toLower(letter);
  for (const Entry &entry : entriesOf(place))
    for (StringRef known : llvm::split(entry.words, ' '))
      if (known == plain)
        return "; write " + entry.ours.str();
  // A module that is called at once, a function where a module stands.
  if (place == WordPlace::Expression) {
    for (const Entry &entry : llvm::ArrayRef(modules))
      for (StringRef known : llvm::split(entry.words, ' '))
        if (known == plain && known.size() > 2)
          return "; a module is declared by 'param': write param m : " +
                 entry.ours.split(',').first.str() + ", and m(x)";
  } else if (place == WordPlace::Module) {
    for (StringRef function :
         {"relu", "tanh", "sigmoid", "softmax", "gelu", "dropout", "softplus"})
      if (function == plain)
        return "; it is a function: write " +
               (function == "dropout" ? "dropout(x, 0.1)"
                                      : function.str() + "(x)") +
               " in an equation";
  }
  return "";
}
