"""Reports turn an answer into a folder that a reviewer can read (docs/commands.md). A report
contains only what the answer holds, and no claim is worded above its level."""
