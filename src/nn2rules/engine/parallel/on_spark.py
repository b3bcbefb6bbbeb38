"""Workers of Spark."""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib

from nn2rules.engine.parallel.place import (
    LOCAL,
    PATIENCE,
    Place,
    library,
    quiet,
    warnings_off,
)
from nn2rules.errors import ClusterError

_NO_LOGS = """\
rootLogger.level = off
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
logger.python.name = org.apache.spark.api.python.PythonGatewayServer
logger.python.level = off
"""


@contextmanager
def spark(place: Place) -> Iterator[None]:
    """Work on Spark: on a running master, or on local workers started here."""
    pyspark = library("pyspark", place)
    joblibspark = library("joblibspark", place)
    if pyspark.SparkContext._active_spark_context is not None:
        raise ClusterError(
            f"{place.url}: this process already has a Spark session; use it with "
            f'joblib.parallel_config(backend="spark")'
        )
    master = place.url
    if place.is_local:
        master = f"local[{place.workers},4]"  # the number of attempts of a task
    else:
        place.reach()
    with tempfile.TemporaryDirectory() as folder, quiet("joblibspark", "py4j"):
        logs = Path(folder) / "log4j2.properties"
        logs.write_text(_NO_LOGS)
        session = _session(master, logs)
        try:
            _await_workers(session.sparkContext._jsc.sc(), place)
            with warnings_off():
                joblibspark.register_spark()
                config = joblib.parallel_config(backend="spark")
            with config:
                yield
        finally:
            session.stop()
            _end_java(pyspark.SparkContext)


def _session(master: str, logs: Path) -> Any:
    """Start a session whose workers use this Python, unless PYSPARK_PYTHON is set."""
    settings = {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{logs}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = import_module("pyspark.sql").SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    was_set = "PYSPARK_PYTHON" in os.environ
    if not was_set and master.startswith(LOCAL):
        os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        return builder.master(master).appName("nn2rules").getOrCreate()
    finally:
        if not was_set:
            os.environ.pop("PYSPARK_PYTHON", None)


def _await_workers(context: Any, place: Place) -> None:
    """Wait for workers: they register after the session has started."""
    profile = context.resourceProfileManager().resourceProfileFromId(0)
    ends = time.monotonic() + PATIENCE
    while not context.maxNumConcurrentTasks(profile):
        if time.monotonic() > ends:
            raise ClusterError(f"{place.url}: the master has no workers to give")
        time.sleep(0.1)


def _end_java(context: Any) -> None:
    """End the Java process, which Spark keeps for further sessions."""
    gateway, context._gateway, context._jvm = context._gateway, None, None
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(PATIENCE)
