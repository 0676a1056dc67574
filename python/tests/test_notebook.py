"""What a notebook shows."""

import numpy as np


def test_model_shows_its_equations(copier):
    shown = copier._repr_html_()
    assert "align[t] = softmax[i](dot(s[t-1], f[i]))" in shown
    assert copier.text.startswith("model copier")
    assert "<td>embed.weight</td><td>[9, 8]</td>" in shown


def test_alignment_is_a_picture(copier, batch, tmp_path):
    picture = copier.picture("align", batch, example=1)
    svg = picture._repr_svg_()
    assert svg.startswith("<svg") or svg.startswith("<?xml")
    assert "align" in svg
    picture.save(tmp_path / "align.svg")
    assert (tmp_path / "align.svg").read_text(encoding="utf-8") == svg


def test_parameters_are_shared_by_dlpack(copier):
    shared = np.from_dlpack(copier.parameters["out.bias"])
    assert np.shares_memory(shared, copier.parameters["out.bias"])
