"""compose.yaml and kubernetes.yaml: the same servers, HAProxy and settings. No container is started here."""

import re
import tomllib
from typing import Any

import yaml

from deploy.serve import TEMPLATE
from tests.browser import ROOT
from tfmviz import capacity, security, workers

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
CLUSTER = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
HAPROXY = TEMPLATE.read_text(encoding="utf-8")
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")


def container(name: str) -> dict[str, Any]:
    """The one container of a deployment in the cluster."""
    (found,) = (one for one in CLUSTER if one["kind"] == "Deployment" and one["metadata"]["name"] == name)
    (only,) = found["spec"]["template"]["spec"]["containers"]
    return dict(only)


IN_CLUSTER = {name: {one["name"]: one for one in container(name)["env"]} for name in ("app", "proxy")}
"""Settings of each container in the cluster."""


def test_the_servers_are_told_by_which_names_they_are_reached_and_who_may_frame_them() -> None:
    for setting in (security.SETTING, "TFMVIZ_EMBED"):
        assert COMPOSE["app"]["environment"][setting] == f"${{{setting}:-}}"
        assert setting in IN_CLUSTER["app"]
    (service,) = (one for one in CLUSTER if one["kind"] == "Service" and "clusterIP" not in one["spec"])
    assert service["metadata"]["name"] in IN_CLUSTER["app"][security.SETTING]["value"].split()


def test_both_run_the_same_haproxy_with_the_file_of_this_folder_and_all_that_it_asks_for() -> None:
    assert COMPOSE["proxy"]["image"] == container("proxy")["image"]
    (volume,) = COMPOSE["proxy"]["volumes"]
    assert volume == "./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro"
    kustomization = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text(encoding="utf-8"))
    assert kustomization["configMapGenerator"] == [{"name": "haproxy", "files": ["haproxy.cfg"]}]
    asked = set(re.findall(r"\$\{?(TFMVIZ_\w+)", HAPROXY))
    assert COMPOSE["proxy"]["environment"].keys() == IN_CLUSTER["proxy"].keys() - {"NAMESPACE"} == asked


def test_the_servers_know_the_same_readers_and_hear_from_haproxy_alone_where_they_are() -> None:
    assert COMPOSE["app"]["environment"][workers.KEY] == f"${{{workers.KEY}:-}}"
    assert IN_CLUSTER["app"][workers.KEY]["valueFrom"]["secretKeyRef"]["optional"]
    for proxies in (
        COMPOSE["app"]["environment"]["FORWARDED_ALLOW_IPS"],
        IN_CLUSTER["app"]["FORWARDED_ALLOW_IPS"]["value"],
    ):
        assert proxies == "*"
    assert "ports" not in COMPOSE["app"]
    assert "http-request del-header X-Forwarded-For unless { src 127.0.0.1 ::1 }" in HAPROXY


def test_all_mean_the_same_port_and_the_same_signs_of_health_and_of_room() -> None:
    health = "/_stcore/health"
    assert "EXPOSE 8501" in CONTAINERFILE
    assert f"http://127.0.0.1:8501{health}" in CONTAINERFILE
    assert COMPOSE["app"]["expose"] == ["8501"]
    for probe, path in (("readinessProbe", capacity.PROBE), ("livenessProbe", health)):
        assert container("app")[probe]["httpGet"] == {"path": path, "port": 8501}
    assert container("app")["ports"] == [{"containerPort": 8501}]
    assert re.findall(r"option httpchk GET (\S+)", HAPROXY) == [health, capacity.PROBE]  # of files, and of sessions


def test_each_server_has_a_share_of_the_cores_and_no_more_rights_than_it_needs() -> None:
    limits = container("app")["resources"]["limits"]
    assert COMPOSE["app"]["deploy"]["resources"]["limits"] == {"cpus": "${CORES:-1}", "memory": "3000M"}
    assert limits == {"cpu": "1", "memory": "3000Mi"}
    for service in COMPOSE.values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
    for name in ("app", "proxy"):
        assert container(name)["securityContext"]["readOnlyRootFilesystem"]
    assert "\nUSER nobody\n" in CONTAINERFILE


def test_the_container_is_given_what_the_wheel_is_made_of() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*wheel["packages"], *wheel["force-include"], "pyproject.toml", project["project"]["readme"]}
    needed |= {*project["project"]["license-files"], "requirements.txt", "requirements.lock"}
    lines = (DEPLOY / "Containerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in lines if line.startswith("!")} == needed
    assert lines[0] == "*"
