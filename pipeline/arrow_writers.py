"""Bases of writers that take Arrow batches if Spark gives them: to batch writes always, to streams from 4.1 on."""

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
