"""What each hypothesis of the theorem is for: computed, not narrated.

| file | one idea |
| --- | --- |
| `instance.py` | small data with the sizes of a layer |
| `steps.py` | the steps of the proof, decided on data without any hypothesis |
| `weakenings.py` | every hypothesis weakened to just below what it is used for |
| `search.py` | minimal data on which a step fails; does memorization survive there? |
| `strength.py` | at what strength a construction used each hypothesis |
| `kruskal.py` | Remark 1, on data of exactly that Kruskal rank |
| `section.py` | all of it as a section of the audit |
"""
