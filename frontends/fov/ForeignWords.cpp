//===- ForeignWords.cpp - what others call it -----------------------------===//
//
// The words that users of PyTorch, Keras, NumPy and LaTeX try first, and
// their equivalents here. A help either has the same meaning as the word or
// names the choices. Only words outside the language are listed: the tables
// are used when a name is undefined. ForeignSyntax.cpp does the same for
// signs.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/ForeignWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace fovea;
using namespace fovea::fov;
using llvm::StringRef;

namespace {
/// Words in lower case and without '_', and what to do instead.
struct Entry {
  StringRef words;
  StringRef help;
};
} // namespace

static constexpr Entry modules[] = {
    {"linear dense fullyconnected fc affine",
     "write linear(n) with the size of its output; the size of the input "
     "follows from the first use"},
    {"embedding embed lookup",
     "write embedding(n); its number of rows follows from the first use"},
    {"embeddingbag",
     "declare an embedding(n) and take the mean: mean[i](embed(x[i]))"},
    {"gru grucell", "write gru(n) with the size of its state"},
    {"lstm lstmcell", "write lstm(n) with the size of its state"},
    {"rnn rnncell simplernn elman", "write rnn(n) with the size of its state"},
    {"bigru bilstm birnn bidirectional bidirectionallstm bidirectionalgru",
     "declare two modules, the second of which reads its future: b[i] = "
     "backward(b[i+1], x[i])"},
    {"stackedrnncells multirnncell stackedlstm",
     "declare a family: param cell[l < L] : lstm(n)"},
    {"timedistributed", "declare the inner module; m(x[i]) applies it at every "
                        "place"},
    {"conv1d convolution1d", "write conv1d(n, width)"},
    {"conv2d convolution2d", "write conv2d(n, width)"},
    {"conv3d convolution3d", "write conv3d(n, width)"},
    {"conv convolution", "write conv1d(n, width), conv2d(n, width) or "
                         "conv3d(n, width)"},
    {"layernorm layernormalization", "write layer_norm"},
    {"rmsnorm rmsnormalization", "write rms_norm"},
    {"batchnorm batchnorm1d batchnorm2d batchnormalization",
     "write batch_norm for rows x[B, n], whose means and variances it takes; a "
     "spec describes one example, so nothing goes over the examples of a "
     "batch"},
    {"groupnorm groupnormalization",
     "write group_norm(groups) for an image, channels last"},
    {"instancenorm2d instancenorm",
     "write group_norm(C) for an image of C channels, channels last"},
    {"instancenorm1d weightnorm spectralnorm",
     "define its equations in a def; layer_norm normalises all features"},
    {"parameter weight weights variable array",
     "write vector(n), matrix(n, m) or tensor(n, m, k)"},
    {"scalar number", "write vector(1), and read its element [0]"},
    {"multiheadattention multiheadattn mha selfattention crossattention "
     "groupedqueryattention gqa",
     "write attention(heads), from each place of x to all of y; or "
     "causal_attention(heads), to the places up to it"},
    {"scaleddotproductattention transformerencoder transformerencoderlayer "
     "transformerdecoder transformerdecoderlayer transformer",
     "state the equations of attention: e[t,i] = dot(q[t], k[i]) / sqrt(D), "
     "a[t,i] = softmax[i](e[t,i]), c[t] = sum[i](a[t,i] * v[i])"},
    {"additiveattention bahdanauattention concatattention",
     "declare its score: param score : additive(A), e[t,i] = score(q[t], "
     "k[i]); a[t,i] = softmax[i](e[t,i]), c[t] = sum[i](a[t,i] * v[i])"},
    {"luongattention dotattention dotproductattention multiplicativeattention "
     "generalattention",
     "state its equations: e[t,i] = dot(q[t], k[i]), or declare param score : "
     "bilinear; a[t,i] = softmax[i](e[t,i]), c[t] = sum[i](a[t,i] * v[i])"},
    {"bilinear",
     "write bilinear for the score q . W k; any other form is a sum: sum[i, "
     "j](x[i] * w[k,i,j] * y[j])"},
    {"sequential modulelist moduledict",
     "declare one 'param' for each layer, or a family: param layer[l < L] : "
     "linear(n)"},
    {"identity", "leave it out: write x in place of m(x)"},
    {"flatten", "leave it out, and write concat[i](x[i]) in an equation"},
    {"positionalencoding positionalembedding",
     "write sinusoid(n)(i) in an equation, or declare param pos : matrix(N, D) "
     "and read pos[i]"},
    {"rotaryembedding rotarypositionalembedding rotaryembeddings",
     "write rope(x, i) in an equation"},
    {"swiglumlp llamamlp", "write swiglu(n) with the size inside"},
    {"highway mlp ffn feedforward moe glu residual encoder decoder "
     "block layer module",
     "define its equations in a def with 'param' inside, and declare that def"},
    {"zeros ones real randn",
     "write vector(n) or matrix(n, m), and train { init = ... } for how "
     "training begins"},
};

static constexpr Entry functions[] = {
    {"cat concatenate hstack concat", "write a ++ b to join two vectors"},
    {"stack vstack", "write stack[k](x[k])"},
    {"matmul mm bmm mv einsum tensordot",
     "write W @ x, or a sum over an index: sum[k](a[i,k] * b[k,j])"},
    {"inner vdot dotproduct", "write dot(a, b)"},
    {"outer", "write a[i] * b[j] with two indices"},
    {"kron", "write concat[i,j](a[i] * b[j])"},
    {"cross", "write its three elements one by one"},
    {"transpose permute swapaxes t",
     "give the indices another order, W[j,i]; the transpose of W times x is "
     "x @ W"},
    {"reshape view rearrange unflatten", "write fold(x, n) for rows of x"},
    {"flatten ravel", "write concat[i](x[i])"},
    {"squeeze unsqueeze expanddims expand repeat tile broadcastto newaxis",
     "write the indices that you mean; axes are never broadcast"},
    {"split chunk", "write a, b = fold(x, 2), or a, b = cut(x, n, m)"},
    {"flip reverse reversed", "write x[S-1-i]"},
    {"roll shift", "write x[i-1] ?? 0, which reads 0 outside"},
    {"pad zeropad2d", "write x[i] ?? 0, which reads 0 outside"},
    {"gather indexselect take", "write x[place]"},
    {"scatter scatteradd indexadd",
     "write sum[i where place[i] == k](x[i]) for each k"},
    {"arange range linspace enumerate", "write the index itself: r[i < N] = i"},
    {"len length size shape ndim numel dim",
     "write the extent by its name: data x[S] has the length S"},
    {"zeroslike", "write zeros(n)"},
    {"oneslike full", "write ones(n), or c * ones(n)"},
    {"eye identity", "write if i == j then 1 else 0"},
    {"tril triu causalmask subsequentmask",
     "restrict the index: softmax[j where j <= i](e[i,j])"},
    {"onehot tocategorical", "write onehot(x)"},
    {"where select cond ifelse", "write if c then a else b"},
    {"maskedfill mask masked",
     "write if m[i] then c else x[i]; a softmax leaves places out by "
     "softmax[i where not m[i]](x[i])"},
    {"maskedsoftmax", "write softmax[i where m[i]](x[i]) with the places that "
                      "take part"},
    {"dot", "write dot(a, b) for two vectors, W @ x for a matrix"},
    {"dropout", "write dropout(x, 0.1)"},
    {"pow power", "write x^y"},
    {"square", "write x^2"},
    {"cube", "write x^3"},
    {"cbrt", "write x^(1 / 3) for x >= 0"},
    {"rsqrt", "write 1 / sqrt(x)"},
    {"reciprocal", "write 1 / x"},
    {"neg negative", "write -x"},
    {"add plus", "write a + b"},
    {"sub subtract minus", "write a - b"},
    {"mul multiply times hadamard", "write a * b"},
    {"div divide truedivide", "write a / b"},
    {"fmod remainder modulo", "write a mod b, which rounds down"},
    {"norm l2norm norm2", "write sqrt(dot(x, x))"},
    {"normalize normalise l2normalize unitnorm",
     "write x / sqrt(dot(x, x) + 1e-12)"},
    {"average reducemean avg", "write mean[i](x[i])"},
    {"reducesum", "write sum[i](x[i])"},
    {"reduceprod product", "write prod[i](x[i])"},
    {"reducemax amax maximum", "write max[i](x[i]), or max(a, b)"},
    {"reducemin amin minimum", "write min[i](x[i]), or min(a, b)"},
    {"variance var", "write mean[k]((x[k] - mean[j](x[j]))^2)"},
    {"std stddev", "write sqrt(mean[k]((x[k] - mean[j](x[j]))^2))"},
    {"median", "write sort(x)[n // 2] for an odd number n of elements"},
    {"logsoftmax", "write log_softmax(x)"},
    {"softmin", "write softmax(-x)"},
    {"cumulativesum", "write cumsum[i](x[i])"},
    {"cumprod", "write a recurrence: p[i] = p[i-1] * x[i], p[-1] = 1"},
    {"cummax cummin", "write a recurrence: m[i] = max(m[i-1], x[i])"},
    {"diff", "write x[i+1] - x[i]"},
    {"topk", "write top(k)(x), and top_places(k)(x) for their places"},
    {"argsort argtopk",
     "write top_places(n)(x) for falling order, top_places(n)(-x) for rising "
     "order"},
    {"relu6", "write min(max(x, 0), 6)"},
    {"leakyrelu", "write max(x, 0.01 * x)"},
    {"prelu", "write max(x, 0) + a * min(x, 0) with a parameter a"},
    {"elu celu", "write max(x, 0) + exp(min(x, 0)) - 1"},
    {"selu", "write 1.0507 * (max(x, 0) + 1.67326 * (exp(min(x, 0)) - 1))"},
    {"silu swish", "write silu(x)"},
    {"mish", "write x * tanh(softplus(x))"},
    {"glu", "write a * sigmoid(b) with the halves a, b = fold(x, 2)"},
    {"hardtanh", "write clamp(x, -1, 1)"},
    {"hardsigmoid", "write clamp(x / 6 + 0.5, 0, 1)"},
    {"hardswish", "write x * clamp(x / 6 + 0.5, 0, 1)"},
    {"softsign", "write x / (1 + abs(x))"},
    {"tanhshrink", "write x - tanh(x)"},
    {"logsigmoid", "write -softplus(-x)"},
    {"sigm logistic expit sig", "write sigmoid(x)"},
    {"log1p", "write log(1 + x)"},
    {"expm1", "write exp(x) - 1"},
    {"exp2", "write 2^x"},
    {"ln loge", "write log(x)"},
    {"log2", "write log(x) / log(2)"},
    {"log10 lg", "write log(x) / log(10)"},
    {"sqr", "write x^2"},
    {"tan", "write sin(x) / cos(x)"},
    {"sinh", "write (exp(x) - exp(-x)) / 2"},
    {"cosh", "write (exp(x) + exp(-x)) / 2"},
    {"atan arctan asin arcsin acos arccos atan2 arctan2 asinh acosh atanh "
     "lgamma digamma gammaln det inverse inv pinv svd eig cholesky solve fft "
     "ifft sparsemax entmax entmax15",
     "the language has no such function; a def can compute it from others"},
    {"erfc", "write 1 - erf(x)"},
    {"sign sgn signum", "write if x > 0 then 1 else (if x < 0 then -1 else 0)"},
    {"ceil ceiling", "write -floor(-x)"},
    {"frac", "write x - floor(x)"},
    {"heaviside step", "write if x >= 0 then 1 else 0"},
    {"fabs absolute absval", "write abs(x)"},
    {"clip clipbyvalue", "write clamp(x, low, high)"},
    {"detach stopgradient nograd stopgrad", "write stop(x)"},
    {"gradient grad jacobian jacrev vjp backward",
     "leave it out: training derives gradients; inside a model, write "
     "grad(loss, x)"},
    {"cosinesimilarity cosinedistance", "write cosine(a, b)"},
    {"trace", "write sum[i](W[i,i])"},
    {"diag diagonal", "write W[i,i]"},
    {"maxpool2d maxpooling2d", "write max_pool2d(x, w)"},
    {"maxpool3d maxpooling3d", "write max_pool3d(x, w)"},
    {"maxpool1d maxpooling1d maxpool", "write max[j < w](x[w*i + j])"},
    {"avgpool2d averagepooling2d", "write mean[j < w, l < w](x[w*i + j, w*k + "
                                   "l])"},
    {"avgpool1d averagepooling1d avgpool", "write mean[j < w](x[w*i + j])"},
    {"globalaveragepooling globalaveragepooling1d adaptiveavgpool1d meanpool",
     "write mean[i](x[i])"},
    {"interpolate upsample", "write x[i // 2], which repeats each place twice"},
    {"crossentropyloss crossentropy nllloss softmaxcrossentropy "
     "categoricalcrossentropy sparsecategoricalcrossentropy "
     "softmaxcrossentropywithlogits",
     "state the distribution as an equation of its own: y ~ "
     "categorical(logits)"},
    {"bceloss bcewithlogitsloss binarycrossentropy "
     "binarycrossentropywithlogits",
     "state the distribution as an equation of its own: y ~ bernoulli(logit "
     "= x)"},
    {"mseloss meansquarederror mse",
     "state the distribution as an equation of its own: y ~ normal(x, 1); or "
     "add a penalty sum[i]((x[i] - y[i])^2)"},
    {"l1loss meanabsoluteerror mae", "add a penalty sum[i](abs(x[i] - y[i]))"},
    {"kldiv kldivloss kldivergence",
     "add a penalty sum[i](p[i] * (log(p[i]) - log(q[i])))"},
    {"tripletloss tripletmarginloss hingeloss marginrankingloss",
     "add a penalty max(0, 1 - a + b)"},
    {"categorical multinomial randint choice",
     "draw it as a statement of its own: z ~ categorical(logits)"},
    {"bernoulli", "draw it as a statement of its own: z ~ bernoulli(p)"},
    {"rand uniform random",
     "draw it as a statement of its own: z[i] ~ uniform(0, 1)"},
    {"randn normal randomnormal gaussian standardnormal randlike randnlike",
     "draw it as a statement of its own: z[i] ~ normal(0, 1)"},
    {"gumbelsoftmax",
     "draw z ~ categorical(logits), and write train { z ~ gumbel }"},
    {"map vmap apply lambda",
     "write an index: y[i] = f(x[i]) applies f at every place"},
    {"scan foldl reduce accumulate whileloop foriloop dynamicrnn",
     "write a recurrence: s[t] = f(s[t-1], x[t]), s[-1] = zeros(n)"},
    {"packpaddedsequence padpackedsequence padsequence sequencemask",
     "leave it out: a spec describes one example, without padding"},
    {"float double tofloat astype cast",
     "leave it out: a whole number becomes real where it has to"},
    {"bool tobool", "write a comparison: x != 0"},
    {"to cuda cpu item numpy clone contiguous copy tensor array tolist "
     "requiresgrad astensor converttotensor jit compile checkpoint",
     "leave it out: values have no device, type or copy"},
    {"isnan isfinite isinf nantonum",
     "leave it out: 'fovea train' stops at values that are not finite"},
    {"print display", "leave it out: 'fovea run --get NAME' writes the values "
                      "of an equation"},
    {"accuracy bleu perplexity rouge f1score",
     "state it outside of equations: metric accuracy(y)"},
    {"positionalencoding sinusoidal", "write sinusoid(n)(i) for place i"},
    {"rotary applyrotaryposemb rotaryembedding",
     "write rope(x, i) for place i"},
};

static constexpr Entry values[] = {
    {"none null nil undefined",
     "write a value, for example zeros(n), or leave the argument out"},
    {"nan", "write a number"},
    {"pi", "declare const pi = 3.141592653589793"},
    {"euler", "write exp(1)"},
    {"infinity infty", "write inf"},
    {"self this", "leave the prefix out"},
    {"true", "write true"},
    {"false", "write false"},
    {"device", "leave it out; the option --target of the command line chooses "
               "the machine"},
    {"batchsize batch", "leave it out: a spec describes one example, and "
                        "'train { batch = 32 }' the batch"},
    {"vocabsize numclasses numtokens ntoken",
     "write the size of a vocabulary by its data: src.vocab"},
};

static constexpr Entry sizes[] = {
    {"outfeatures hiddensize units embeddingdim outputdim filters outchannels "
     "numunits dim dmodel hidden hiddendim nhid size features normalizedshape",
     "give the size first and without a name"},
    {"infeatures inputsize inchannels numembeddings inputdim inputshape",
     "leave it out: it follows from the first use"},
    {"kernelsize kernel filtersize window", "write width = ..."},
    {"padding", "write pad = ..., the number of zeros on each side"},
    {"strides", "write stride = ..."},
    {"numgroups ngroups", "write groups = ..."},
    {"dilationrate dilations", "write dilation = ..."},
    {"epsilon", "write eps = ..."},
    {"numheads nheads nhead", "give the number of heads first, without a name"},
    {"numkvheads kvheads nkvheads numkeyvalueheads", "write groups = ..."},
    {"windowsize slidingwindow", "write window = ..."},
    {"numlayers layers nlayers",
     "declare a family: param cell[l < L] : lstm(n)"},
    {"bidirectional",
     "declare two modules, the second of which reads its future: b[i] = "
     "backward(b[i+1], x[i])"},
    {"batchfirst timemajor batchsize",
     "leave it out: a spec describes one example, without a batch"},
    {"dropout recurrentdropout", "write dropout(x, 0.1) in an equation"},
    {"activation nonlinearity",
     "apply the function in an equation: tanh(m(x))"},
    {"usebias", "write bias = false"},
    {"returnsequences returnstate paddingidx", "leave it out"},
    {"device dtype", "leave it out; the options --target and --dtype of the "
                     "command line choose them"},
    {"init initializer kernelinitializer weightinit",
     "write train { init = ... }"},
};

static constexpr Entry types[] = {
    {"float float32 float64 double number scalar tensor array ndarray vector "
     "matrix",
     "write real, or real(n)"},
    {"bool boolean flag mask bits", "write bit"},
    {"integer long int32 int64 uint8 index byte", "write int"},
    {"str string text words sequence", "write sentence"},
    {"word symbol char character ids id", "write token"},
    {"chars characters", "write sentence of v, with vocab v : chars"},
    {"label category categorical enum target onehot", "write class(n)"},
    {"image picture", "write real(3) from pixels, over axes [Y, X]"},
    {"audio sound speech waveform",
     "write real(n) from sound(rate = 16000), over an axis [S]"},
};

static constexpr Entry distributions[] = {
    {"softmax crossentropy crossentropyloss multinomial discrete logits "
     "categoricalcrossentropy cat",
     "write categorical(logits)"},
    {"sigmoid binary bce bceloss bcewithlogitsloss binarycrossentropy",
     "write bernoulli(logit = x)"},
    {"n gaussian multivariatenormal",
     "write normal(mean, deviation), where the deviation is the square root "
     "of the variance"},
    {"mse mseloss", "write normal(mean, deviation)"},
    {"gmm mixtureofgaussians mdn", "write mixture[k](logit = a[k], ..)"},
    {"argmax", "write categorical(logits); decoding takes the most probable "
               "value"},
    {"p q", "write the distribution, for example categorical(logits)"},
};

/// Equivalents for parameters of a distribution; the first word is its name.
static constexpr Entry parameters[] = {
    {"std stddev sigma scale deviation", "sd = ..."},
    {"var variance sigma2", "sd = sqrt(...)"},
    {"logvar logvariance", "sd = exp(0.5 * ...)"},
    {"logstd logsigma logscale", "sd = exp(...)"},
    {"mu loc m", "mean = ..."},
    {"p prob probs probability probabilities weights", "prob = ..."},
    {"p prob probs probability probabilities weights", "probs = ..."},
    {"logits", "logit = ..."},
    {"logit scores energies", "logits = ..."},
    {"min minimum a", "low = ..."},
    {"max maximum b", "high = ..."},
};

static constexpr Entry trainOptions[] = {
    {"lr learningrate stepsize eta schedule scheduler lrscheduler",
     "write rate = ..."},
    {"batchsize minibatch", "write batch = ..."},
    {"optimizer optim", "write optimiser = ..."},
    {"gradclip clipnorm maxnorm clipgradnorm gradientclipping maxgradnorm",
     "write clip = ..."},
    {"weightdecay l2 regularization regularisation", "write decay = ..."},
    {"labelsmoothing smoothing", "write smooth = ..."},
    {"patience earlystopping", "write early_stop = loss(3)"},
    {"initializer initialiser initialization initialisation",
     "write init = ..."},
    {"warmupsteps numwarmupsteps", "write warmup = ..."},
    {"gradientaccumulation accumulatesteps gradaccum",
     "write accumulate = ..."},
    {"momentum", "write optimiser = momentum(0.9)"},
    {"beta1 beta2 betas b1 b2 eps epsilon",
     "give the optimiser its arguments: optimiser = adam(0.9, 0.999, 1e-8)"},
    {"loss criterion", "write a '~' or a 'penalty' outside of train { }"},
    {"epochs epoch numepochs maxepochs",
     "give it on the command line: fovea train --epochs 10"},
    {"steps maxsteps numsteps iterations updates",
     "give it on the command line: fovea train --steps 1000"},
    {"seed randomseed manualseed",
     "give it on the command line: fovea train --seed 1"},
    {"device gpu gpus cuda accelerator",
     "give it on the command line: fovea train --target cuda"},
    {"fp16 bf16 amp precision mixedprecision",
     "give it on the command line: fovea train --precision bf16"},
    {"shuffle", "leave it out: batches are drawn in a random order"},
    {"workers numworkers threads",
     "give it on the command line: fovea train --threads 2"},
    {"loginterval logevery loggingsteps",
     "give it on the command line: fovea train --report-every 100"},
    {"dropout", "write dropout(x, 0.1) in an equation"},
    {"metric metrics", "write a 'metric' outside of train { }"},
};

static constexpr Entry decodeOptions[] = {
    {"beamsize numbeams beamwidth k", "write beam = ..."},
    {"maxlength maxlen maxtokens maxnewtokens", "write longest = ..."},
    {"minlength minlen minnewtokens", "write shortest = ..."},
    {"lengthpenalty alpha lengthnormalisation lengthnormalization lenpen",
     "write normalise = gnmt(0.6)"},
    {"normalize", "write normalise = ..."},
    {"temperature", "give it on the command line: fovea decode --sample "
                    "--temperature 0.7"},
    {"topk", "give it on the command line: fovea decode --sample --top-k 5"},
    {"topp", "give it on the command line: fovea decode --sample --top-p 0.9"},
    {"sample dosample sampling",
     "give it on the command line: fovea decode --sample"},
    {"nbest numreturnsequences",
     "give it on the command line: fovea decode --beam 4 --nbest 4"},
    {"greedy", "write beam = 1"},
    {"unkreplace replaceunk replaceunknown", "write unknown = replace(align)"},
};

static constexpr Entry metricNames[] = {
    {"acc", "write accuracy"},
    {"ppl", "write perplexity"},
    {"f1 f1score", "write accuracy, or bracket_f1 for trees"},
    {"rouge rouge1 rouge2 rougel", "write rouge_1, rouge_2 or rouge_l"},
    {"sacrebleu", "write bleu"},
    {"exactmatch em", "write exact"},
};

static constexpr Entry statements[] = {
    {"import from include require using",
     "leave it out; 'use m' takes over the statements of m.fov"},
    {"class module network layer struct",
     "a file is one model; a def with 'param' inside is a module"},
    {"fn func function lambda", "write def f(x) = ..."},
    {"for foreach while loop repeat",
     "write an index: y[t] = f(y[t-1]) holds for every t"},
    {"elif else unless switch match",
     "write the condition inside of an equation: y[i] = if c then a else b"},
    {"let var val auto float int double real tensor global local static",
     "write the equation alone: y[i] = ..."},
    {"with try assert print pass end begin done raise del yield async await "
     "backward step",
     "leave it out: a spec holds declarations and equations"},
    {"input inputs output outputs feature", "declare it: data x[S] : real"},
    {"parameter parameters weight weights variable trainable",
     "declare it: param w : vector(n)"},
    {"loss minimize minimise objective cost",
     "write a '~', or penalty ... for a term of the loss"},
    {"maximize maximise reward", "write penalty -(...)"},
    {"optimizer optimiser", "write train { optimiser = adam }"},
    {"hyperparameter hyper size integer", "declare it: dim N = 4"},
};

/// Functions of one value with the same name in the language.
static bool unaryOrSoftmax(StringRef word) {
  return llvm::is_contained({"relu", "tanh", "sigmoid", "softmax", "gelu",
                             "softplus", "exp", "log", "sqrt", "abs"},
                            word);
}

static llvm::ArrayRef<Entry> entriesOf(WordPlace place) {
  switch (place) {
  case WordPlace::Value:
    return values;
  case WordPlace::Function:
    return functions;
  case WordPlace::Module:
    return modules;
  case WordPlace::Size:
    return sizes;
  case WordPlace::Type:
    return types;
  case WordPlace::Distribution:
    return distributions;
  case WordPlace::Train:
    return trainOptions;
  case WordPlace::Decode:
    return decodeOptions;
  case WordPlace::Metric:
    return metricNames;
  case WordPlace::Statement:
    return statements;
  }
  llvm_unreachable("every place is listed");
}

/// `layernorm` of `nn.Layer_Norm`.
static std::string plain(StringRef word) {
  std::string result;
  for (char letter : word.substr(word.rfind('.') + 1))
    if (letter != '_')
      result += llvm::toLower(letter);
  return result;
}

static bool has(const Entry &entry, StringRef word) {
  return llvm::is_contained(llvm::split(entry.words, ' '), word);
}

static StringRef helpOf(StringRef word, WordPlace place) {
  for (const Entry &entry : entriesOf(place))
    if (has(entry, word))
      return entry.help;
  return {};
}

std::string fovea::fov::ourWord(StringRef written, WordPlace place) {
  std::string word = plain(written);
  auto help = [](const llvm::Twine &text) { return ("; help: " + text).str(); };
  if (StringRef own = helpOf(word, place); !own.empty())
    return help(own);
  // Modules that are called directly, and functions declared as modules.
  if (place == WordPlace::Function) {
    StringRef module = helpOf(word, WordPlace::Module);
    // "write conv1d(n, width), .."
    if (module.consume_front("write ")) {
      size_t end = module.find_first_of("( ;,");
      if (end != StringRef::npos && module[end] == '(')
        end = module.find(')') + 1;
      return help("declare a module, param m : " + module.take_front(end) +
                  ", and apply it: m(x)");
    }
    return module.empty() ? "" : help(module);
  }
  if (place == WordPlace::Module) {
    if (word == "dropout")
      return help("apply the function in an equation: dropout(x, 0.1)");
    if (unaryOrSoftmax(word))
      return help("apply the function in an equation: " + word + "(x)");
    StringRef function = helpOf(word, WordPlace::Function);
    return function.consume_front("write ")
               ? help("it is a function; write " + function + " in an equation")
               : "";
  }
  return "";
}

std::string fovea::fov::ourParameter(StringRef written,
                                     llvm::ArrayRef<StringRef> known) {
  std::string word = plain(written);
  for (const Entry &entry : parameters)
    if (has(entry, word) &&
        llvm::is_contained(known, entry.help.split(' ').first))
      return "; help: write " + entry.help.str();
  return "";
}

bool fovea::fov::isLibrary(StringRef word) {
  static constexpr StringRef all[] = {
      "nn",     "torch", "F",          "keras",  "layers",     "tf",
      "np",     "jnp",   "jax",        "lax",    "functional", "numpy",
      "math",   "Math",  "self",       "this",   "K",          "fnn",
      "hk",     "flax",  "tensorflow", "dist",   "tfd",        "optim",
      "einops", "scipy", "mx",         "paddle", "theano"};
  return llvm::is_contained(all, word);
}
