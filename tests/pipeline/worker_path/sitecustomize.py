"""For Spark's Python workers: each task would read the directories of Spark's zip files anew, a fifth of a second long.

Python 3.12 and later read them when something is imported.
"""

import sys
import zipimport

if sys.version_info < (3, 12):
    zipimport.zipimporter.invalidate_caches = lambda self: None  # type: ignore[method-assign]
