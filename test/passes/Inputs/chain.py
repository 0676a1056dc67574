"""Prints a loop whose step is a chain of so many equations."""

import sys

ARRAY = "!attn.array<[4], f64>"

print("""attn.program @chain attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %%zero = attn.data "zero" : %s
  %%last = attn.scan "S" (%%t) carries (%%h0 = %%zero : %s) axes [] {""" % (ARRAY, ARRAY))
count = int(sys.argv[1])
for number in range(count):
    print(f"""    %h{number + 1} = attn.compute (%n: 4) {{
      %0 = attn.read %h{number}[%n] : {ARRAY}
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    }} : {ARRAY}""")
print(f"""    attn.yield %h{count} : {ARRAY}
  }} : {ARRAY}
  attn.output "last" %last : {ARRAY}
}}""")
