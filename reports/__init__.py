"""Reports turn an answer into a folder that a reviewer can read.

| file | content |
| --- | --- |
| `report.md` | the page, verdict first |
| `report.html` | the same page for a browser, in one file that loads nothing |
| `certificate.json` | data, weights and claim, for `attncert check` and the checker |
| `checker/` | a copy of `verify/checker`, so that nothing else is needed |
| `answer.json` | the answer as data: command, standing, verdict, settings, claims, exhibits |
| `timings.json` | times and versions, which no other file holds |
| `references.bib` | for a paper |
| `figures/*.svg` | figures |

Figures and tables differ from question to question; `report.py` lists all names. A report contains
only what the answer holds, and no claim is worded above its level.
"""
