"""The request handlers, a module for each family. Importing this package registers all of them."""

from odradek.broker.api import api_versions as api_versions
