"""Writes train.q, .r and .f, and valid.*: groups of six questions with their replies, in
another order, and where each question's reply is."""

import random

draw = random.Random(1)
for part, groups in (("train", 150), ("valid", 20)):
    with open(f"{part}.q", "w") as questions, open(f"{part}.r", "w") as replies, open(f"{part}.f", "w") as found:
        for _ in range(groups):
            words = draw.sample(range(20), 6)
            order = draw.sample(range(6), 6)
            questions.write(" | ".join(f"what is q{word}" for word in words) + "\n")
            replies.write(" | ".join(f"a{words[place]}" for place in order) + "\n")
            found.write(" ".join(str(order.index(place)) for place in range(6)) + "\n")
