"""The report of a proof: page, tables, figures, graph, and the same as data.

page                     the parts of the report, gathered from the other modules
sections, blocks         what every proof shows; what a network shows
rows, head_steps         rows of tables; the steps of all heads
view, layout, graph      boxes of claims; their places; the drawing
formula, figures         formulas of blocks; the heat map of saturation
records                  exhibits of answer.json
"""
