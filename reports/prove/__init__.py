"""The report of a proof: its page, tables, figures and graph, and the same as data.

page                     the parts of the report, gathered from the other modules
sections, blocks         what every proof shows; what a network shows
rows, head_steps         rows of tables; the steps of all heads
view, layout, graph      the boxes of claims, their places, and the drawing
formula, figures         formulas of blocks; the heat map of saturation
records                  exhibits of answer.json
"""
