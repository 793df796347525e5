"""What is WRITTEN: from an answer to a folder that a reviewer can read.

| file | what it is |
| --- | --- |
| `report.md` | the page, verdict first |
| `report.html` | the same page for a browser, made from it: one file, nothing to load |
| `certificate.json` | what `attncert check` and the checker re-derive |
| `checker/` | a copy of `verify/checker`, so that the folder stands alone |
| `answer.json` | the answer as data: command, standing, verdict, settings, claims, exhibits |
| `timings.json` | times and versions, the only place for them |
| `references.bib` | for a paper |
| `figures/*.svg` | figures |

Figures and tables differ from question to question; `report.py` lists all names. Nothing
is computed here that the answer does not hold, and nothing is worded above its level.
"""
