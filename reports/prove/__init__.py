"""The report of a proof: page, tables, figures, graph, and the same as data.

`page` gathers what the others make:

    rows, head_steps, saturation    cells of tables, and sentences
    view -> layout -> graph         boxes of claims; where they stand; the picture
    figures, plots                  pictures for the folder; for a notebook
    matrices                        small weights, written out
    records                         what answer.json holds beside the claims
"""
