"""words.py LIBRARY: the vocabularies inside turn words into ids and back."""

import ctypes
import sys

model = ctypes.CDLL(sys.argv[1])
model.words_symbol.restype = ctypes.c_char_p
model.words_id.restype = ctypes.c_int64
handle = ctypes.c_void_p()
assert model.words_create(None, 1, ctypes.byref(handle)) == 0
for name, word in ("src", "Häuschen"), ("tgt", "cottage"), ("src", "nie"), ("src", "</s>"):
    number = model.words_id(handle, name.encode(), word.encode())
    text = model.words_symbol(handle, name.encode(), ctypes.c_int64(number))
    print(name, word, "known" if number > 2 else number, text.decode())
print(model.words_symbol(handle, b"src", ctypes.c_int64(99)))
model.words_destroy(handle)
