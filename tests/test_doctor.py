import re
import subprocess
import sys
from pathlib import Path

import pytest

from builder import doctor
from builder.doctor import Finding, examine, exit_code

PROJECT = Path(__file__).parent.parent


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def test_this_environment_can_build(tmp_path: Path) -> None:
    findings = examine(PROJECT, tmp_path / "dist")
    assert exit_code(findings) == 0
    found = by_name(findings)
    assert {"Python", "torch", "altair", "pytest", "Chromium", "Chinese font", "git"} <= set(found)
    assert found["torch"].state == "ok"
    assert all(bool(f.remedy) == (f.state != "ok") for f in findings)


def test_torch_is_not_imported() -> None:
    code = (
        "import sys; from builder.doctor import examine; examine();"
        "sys.exit('torch' in sys.modules or 'altair' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0


def test_a_package_that_is_not_there_is_missing() -> None:
    (finding,) = doctor.packages(["no-such-package>=1.0"], "missing")
    assert finding.state == "missing"
    assert finding.detail == "not installed; wanted: >=1.0"
    assert "pip install" in finding.remedy
    assert exit_code([finding]) == 1


def test_a_package_of_another_version_is_named_with_both() -> None:
    (finding,) = doctor.packages(["pytest<1"], "warning")
    assert finding.state == "warning"
    assert finding.detail == f"{pytest.__version__} is installed; wanted: <1"
    assert exit_code([finding]) == 0


def test_a_local_build_of_a_package_satisfies_its_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.metadata, "version", lambda _: "2.13.0+cpu")
    (finding,) = doctor.packages(["torch==2.13.0"], "missing")
    assert finding.state == "ok"


def test_an_old_python_is_missing() -> None:
    assert doctor.python(">=3.11", "3.10.2").state == "missing"
    assert doctor.python(">=3.11", "3.14.0").state == "ok"


def test_an_output_folder_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "dist").write_text("", "utf-8")
    assert doctor.output_folder(tmp_path / "dist").state == "missing"
    assert doctor.output_folder(tmp_path / "new" / "dist").state == "ok"


def test_an_output_folder_that_cannot_be_written_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    finding = doctor.output_folder(tmp_path / "new" / "dist")
    assert finding.detail == f"{tmp_path} cannot be written"


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    assert doctor.disk(tmp_path / "dist", needed=0).state == "ok"
    assert doctor.disk(tmp_path / "dist", needed=2**80).state == "missing"


def test_vector_instructions_are_named(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("flags\t\t: fpu sse avx avx2 avx512f\n", "utf-8")
    assert "avx, avx2, avx512f" in doctor.cpu(cpuinfo).detail
    assert "features unknown" in doctor.cpu(tmp_path / "none").detail


def test_the_test_script_looks_for_the_same_browsers() -> None:
    script = (PROJECT / "tests/run").read_text("utf-8")
    (names,) = re.findall(r"^find_browser\(\) \{.*?for name in (.*?); do", script, re.M | re.S)
    assert tuple(names.split()) == doctor.BROWSERS


def test_what_only_tests_need_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for finding in (doctor.browser(), doctor.chinese_font(), doctor.git()):
        assert finding.state == "warning"
        assert "apt-get install" in finding.remedy


def test_a_folder_that_is_no_project_is_reported(tmp_path: Path) -> None:
    (finding,) = examine(tmp_path)
    assert finding.state == "missing"
    assert "pyproject.toml" in finding.detail
