"""Bases of writers that get Arrow batches where Spark gives them: for batches always, for streams from 4.1 on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceArrowWriter

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamWriter as StreamWriterBase
else:
    try:
        from pyspark.sql.datasource import DataSourceStreamArrowWriter as StreamWriterBase
    except ImportError:
        from pyspark.sql.datasource import DataSourceStreamWriter as StreamWriterBase

__all__ = ["DataSourceArrowWriter", "StreamWriterBase"]
