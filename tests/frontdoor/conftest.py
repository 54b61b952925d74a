"""What pytest runs inside of a test share with it.

`pytester` forgets the modules that such a run has imported, but their packages still have them as attributes, and the
next run would find some of them twice.
"""

import odradek.broker.facade.threaded
import odradek.protocol.primitives  # noqa: F401
