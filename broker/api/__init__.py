"""The request handlers, a module for each family. Importing this package registers all of them."""

from odradek.broker.api import api_versions as api_versions
from odradek.broker.api import cluster as cluster
from odradek.broker.api import configs as configs
from odradek.broker.api import delete_records as delete_records
from odradek.broker.api import fetch as fetch
from odradek.broker.api import find_coordinator as find_coordinator
from odradek.broker.api import group_admin as group_admin
from odradek.broker.api import group_offsets as group_offsets
from odradek.broker.api import groups as groups
from odradek.broker.api import list_offsets as list_offsets
from odradek.broker.api import metadata as metadata
from odradek.broker.api import produce as produce
from odradek.broker.api import producers as producers
from odradek.broker.api import topics as topics
from odradek.broker.api import transactions as transactions
