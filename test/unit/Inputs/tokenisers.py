"""Writes tokenisers.json: tokenisers of all kinds, lines, and what the library
of Hugging Face (tokenizers 0.23.3) makes of them.

  tokenisers.py tokenisers.json            writes the file
  tokenisers.py tokenisers.json --check    compares the file with the library
                                           that is installed
"""

import json
import pathlib
import sys

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)

# Article 1 of the Universal Declaration of Human Rights, and what is hard.
LINES = """\
All human beings are born free and equal in dignity and rights.
Alle Menschen sind frei und gleich an Würde und Rechten geboren.
Tous les êtres humains naissent libres et égaux en dignité et en droits.
Todos los seres humanos nacen libres e iguales en dignidad y derechos.
Все люди рождаются свободными и равными в своем достоинстве и правах.
Всі люди народжуються вільними і рівними у своїй гідності та правах.
Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.
يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.
כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם.
सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।
সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।
மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்.
มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ
人人生而自由，在尊严和权利上一律平等。
すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。
모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.
Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền.
Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.
Wszyscy ludzie rodzą się wolni i równi pod względem swej godności.
Minden emberi lény szabadon születik és egyenlő méltósága és joga van.
Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan.
ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებით.
Watu wote wamezaliwa huru, hadhi na haki zao ni sawa.

two  spaces
\t a\ttab
\u3000wide ＡＢ ﬁne ｶﾞ
▁▁x ▁
naïve nai\u0308ve Å e\u0301\u0301
😀😀 one😀 👨‍👩‍👧
中文 and 12345 ½ ² Ⅳ ٣
<tag> a<tag>b <tag><tag>
<s> </s> <unk> <0x0A> [CLS] [MASK] [UNK] <mask>
I'll don't WE'RE can't've I'LL ſs'ſ
a\u200bb\u200dc\u200ed\ufeffe
x\u0301\u0302\u0323 ṩ 각
İstanbul ISTANBUL ΣΊΣΥΦΟΣ ǅ
\x01\x7f\x85\xa0x\u2028 \ufffd \ue000
def f(x):    return x\t\t\tif x else None
do not ' s . , ! ? n't 's...!!!
""".split("\n")[:-1]


def pairs(**options):
    return Tokenizer(models.BPE(**options))


def trained(tokeniser, kind=trainers.BpeTrainer, size=380, **options):
    tokeniser.train_from_iterator(
        LINES, kind(vocab_size=size, show_progress=False, **options))
    return tokeniser


def by_bytes(words, special=(), normaliser=None, **options):
    result = pairs(**options)
    if normaliser:
        result.normalizer = normaliser
    result.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(one), "isolated") for one in words] +
        [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not words)])
    result.decoder = decoders.ByteLevel()
    return trained(result, special_tokens=list(special),
                   initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def gpt2():
    result = by_bytes([], ["<s>", "<pad>", "</s>", "<unk>"])
    result.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    result.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    result.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    return result


def llama3():
    result = by_bytes(
        [r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
         r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
        ["<|begin|>"], ignore_merges=True)
    result.post_processor = processors.Sequence(
        [processors.ByteLevel(), processors.TemplateProcessing(
            single="<|begin|> $A", special_tokens=[("<|begin|>", 0)])])
    return result


def gpt4o():
    return by_bytes(
        [r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n/]*|"
         r"\s*[\r\n]+|\s+(?!\S)|\s+"])


def deepseek():
    result = by_bytes(
        [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
         r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"
         r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
         r"\s*[\r\n]+|\s+(?!\S)|\s+"], normaliser=normalizers.NFC())
    result.add_tokens([AddedToken("<tag>", single_word=True, rstrip=True)])
    return result


def llama2():
    """Pairs of whole lines, and bytes where there is no other token."""
    words = pairs()
    words.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    words.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    trained(words, size=500, limit_alphabet=120,
            special_tokens=["<unk>", "<s>", "</s>"] +
            [f"<0x{byte:02X}>" for byte in range(256)])
    file = json.loads(words.to_str())
    file["pre_tokenizer"] = None
    file["model"].update(unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    file["added_tokens"] = [one for one in file["added_tokens"] if one["id"] < 3]
    result = Tokenizer.from_str(json.dumps(file))
    result.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
         decoders.Strip(" ", 1, 0)])
    result.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)])
    return result


def clip():
    result = pairs(unk_token="<|end|>", end_of_word_suffix="</w>",
                   continuing_subword_prefix="")
    result.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "),
         normalizers.Lowercase()])
    result.pre_tokenizer = pre_tokenizers.Split(
        Regex(r"'s|'t|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True)
    result.decoder = decoders.BPEDecoder("</w>")
    return trained(result, special_tokens=["<|begin|>", "<|end|>"],
                   end_of_word_suffix="</w>", limit_alphabet=200)


def bert(**options):
    result = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    result.normalizer = normalizers.BertNormalizer(**options)
    result.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    result.decoder = decoders.WordPiece()
    trained(result, trainers.WordPieceTrainer, 500,
            special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    result.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return result


def unigrams(special, normaliser, **options):
    """The characters and the begins of words, with scores of their lengths."""
    words = {"▁" + word[:size] for line in LINES for word in line.split()
             for size in range(1, 5)}
    chars = {char for line in LINES[:30] for char in line if char not in " \t"}
    texts = sorted(words | chars | {"▁", "<0x0A>"} - set(special))
    vocabulary = [(one, 0.0) for one in special] + [
        (one, -3 - len(one) * 0.75 - index / 1000)
        for index, one in enumerate(texts)]
    result = Tokenizer(models.Unigram(vocabulary, special.index("<unk>"),
                                      options.get("bytes", False)))
    result.normalizer = normaliser
    result.pre_tokenizer = pre_tokenizers.Metaspace(
        prepend_scheme=options.get("scheme", "always"))
    result.decoder = decoders.Sequence(
        [decoders.ByteFallback(),
         decoders.Metaspace(prepend_scheme=options.get("scheme", "always"))])
    result.add_special_tokens([one for one in special if one[1:3] != "0x"])
    return result


def precompiled():
    """The table of a SentencePiece model of this folder."""
    model = (pathlib.Path(__file__).parent / "pieces.model").read_bytes()
    # Field 3 of the message is the normaliser, field 2 of that the table.
    def fields(data):
        def number():
            nonlocal at
            value = shift = 0
            while True:
                value |= (data[at] & 127) << shift
                at, shift = at + 1, shift + 7
                if data[at - 1] < 128:
                    return value
        at = 0
        while at < len(data):
            key = number()
            if key & 7 == 0:
                number()
                continue
            size = {1: 8, 5: 4}.get(key & 7) or number()
            yield key >> 3, data[at:at + size]
            at += size
    normaliser = next(data for key, data in fields(model) if key == 3)
    return normalizers.Precompiled(
        next(data for key, data in fields(normaliser) if key == 2))


def xlmr():
    result = unigrams(["<s>", "<pad>", "</s>", "<unk>"], precompiled())
    result.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    result.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return result


def t5():
    result = unigrams(
        ["<pad>", "</s>", "<unk>"], normalizers.Sequence(
            [normalizers.Nmt(), normalizers.NFKD(), normalizers.StripAccents(),
             normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), "▁")]),
        scheme="first")
    result.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)])
    return result


def unigram_bytes():
    return unigrams(["<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)],
                    normalizers.NFKC(), bytes=True)


def words():
    result = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    result.normalizer = normalizers.NFD()
    result.pre_tokenizer = pre_tokenizers.Whitespace()
    return trained(result, trainers.WordLevelTrainer, 150,
                   special_tokens=["[UNK]"])


def signs():
    result = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    result.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.CharDelimiterSplit("."),
         pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits(True),
         pre_tokenizers.Split(" ", "merged_with_previous")])
    result.decoder = decoders.Fuse()
    return trained(result, trainers.WordLevelTrainer, 150,
                   special_tokens=["[UNK]"])


ALL = {"gpt2": gpt2, "llama3": llama3, "gpt4o": gpt4o, "deepseek": deepseek,
       "llama2": llama2, "clip": clip, "bert": bert,
       "bert_cased": lambda: bert(lowercase=False), "xlmr": xlmr, "t5": t5,
       "unigram_bytes": unigram_bytes, "words": words, "signs": signs}


def answers(tokeniser, lines):
    """The ids of lines, and the text of ids without those around it."""
    plain = [tokeniser.encode(line, add_special_tokens=False).ids for line in lines]
    return {"ids": [tokeniser.encode(line).ids for line in lines],
            "texts": [tokeniser.decode(ids) for ids in plain]}


path = pathlib.Path(sys.argv[1])
if sys.argv[2:] == ["--check"]:
    given = json.loads(path.read_text())
    for name, one in given["tokenisers"].items():
        tokeniser = Tokenizer.from_str(json.dumps(one["file"]))
        found = answers(tokeniser, given["lines"])
        assert found["ids"] == one["ids"] and found["texts"] == one["texts"], name
    print(f"{len(given['tokenisers'])} tokenisers, {len(given['lines'])} lines each")
else:
    made = {name: make() for name, make in ALL.items()}
    path.write_text(json.dumps(
        {"lines": LINES,
         "tokenisers": {name: {"file": json.loads(one.to_str()),
                               **answers(one, LINES)}
                        for name, one in made.items()}},
        ensure_ascii=False, separators=(",", ":")) + "\n")
