"""A real browser, and what is asked of a report in it."""

import os
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from nn2rules.space import Range

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def absent(reason: str) -> Any:
    """Skip, where a browser is a matter of taste; fail where it must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; tests/engines.sh installs it")
    pytest.skip(f"{reason}; tests/engines.sh installs it")


def started(folder: Path) -> Any:
    """Start Chromium with an empty profile, logging all that it says and asks for."""
    found = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    for name, place in found.items():
        if place is None:
            absent(f"there is no {name} on this machine")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = found["chromium"]
    for flag in (*FLAGS, f"--user-data-dir={folder}", "--window-size=1280,900"):
        options.add_argument(flag)
    logs = {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", logs)
    service = webdriver.ChromeService(found["chromedriver"])
    return webdriver.Chrome(options=options, service=service)


def opened(driver: Any, path: Path) -> None:
    """Open a page, of which the logs are empty."""
    for log in ("browser", "performance"):
        driver.get_log(log)
    driver.get(path.as_uri())


def said(driver: Any) -> list[str]:
    """Return what the console says: errors, warnings, violations of the policy."""
    return [entry["message"] for entry in driver.get_log("browser")]


def asked_for(driver: Any) -> list[str]:
    """Return every address that the page asked for, but its own."""
    import json

    events = [
        json.loads(e["message"])["message"] for e in driver.get_log("performance")
    ]
    addresses = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    own = driver.current_url.partition("#")[0]
    return [url for url in addresses if url.partition("#")[0] != own]


def violations(driver: Any) -> list[tuple[str, str]]:
    """Return what axe-core finds to be serious or worse."""
    source = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    driver.set_script_timeout(120)
    driver.execute_script(source)
    found = driver.execute_async_script(
        "const done = arguments[0]; axe.run().then(done, (e) => done({e: String(e)}));"
    )
    return [
        (each["id"], each["nodes"][0]["html"])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]


def sized(
    driver: Any, width: int, *, dark: bool = False, is_phone: bool = False
) -> None:
    """Show the page as wide as on some device, light or dark."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": is_phone},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


_ANSWER = """
const [codes, numbers] = arguments;
codes.forEach((code, place) => {
  document.getElementById(`f${place}`).value = String(code);
  const number = document.getElementById(`n${place}`);
  if (number && numbers[place] !== null) number.value = numbers[place];
});
document.getElementById("f0").dispatchEvent(new Event("input", {bubbles: true}));
const out = document.getElementById("prediction");
const changes = document.getElementById("changes-summary");
const points = document.getElementById("points-total");
const reason = [...out.querySelectorAll("#reason [data-feature]")];
return {...out.dataset, ...points?.dataset,
  shown: out.querySelector(".class")?.textContent,
  fewest: changes?.dataset.fewest, count: changes?.dataset.count,
  reason: reason.map((chip) => Number(chip.dataset.feature)),
  text: out.textContent};
"""


def answer(driver: Any, domain: Any, row: dict[str, Any]) -> dict[str, Any]:
    """Choose the values of a row, and return what the page says of it."""
    codes, numbers = domain.inputs_of([row])
    given = [None] * len(domain.features)
    if numbers is not None:
        given = [
            repr(number) if isinstance(feature, Range) and code == 0 else None
            for feature, code, number in zip(
                domain.features, codes[0].tolist(), numbers[0].tolist(), strict=True
            )
        ]
    found: dict[str, Any] = driver.execute_script(_ANSWER, codes[0].tolist(), given)
    return found
