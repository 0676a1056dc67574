"""The first lines of somebody who has installed the package."""

import fovea
from fovea._program import program

print(program())
model = fovea.compile("""model first
data x[S] : real
total = 3 * sum[i](x[i])
""")
print([float(value) for value in model.get("total", {"x": [[1, 1], [2, 2, 1]]})])
