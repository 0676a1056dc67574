"""Sets all weights to 0: zeros.py FROM TO"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "models"))
import parameters  # noqa: E402,F401
from tensors import Tensor, read, write  # noqa: E402

write(sys.argv[2], {name: Tensor("F64", t.shape, [0.0] * len(t.values)) for name, t in read(sys.argv[1]).items()})
