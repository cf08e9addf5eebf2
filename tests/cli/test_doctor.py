import json

from regard.cli.main import main


def test_the_doctor_tells_what_the_machine_offers(capsys):
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    rows = [
        "python",
        "torch",
        "cores",
        "memory",
        "disk",
        "float32",
        "bfloat16",
        "encoding",
        "extras",
    ]
    assert [row for row in rows if row not in shown] == []


def test_the_doctor_writes_json(capsys):
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cores"] >= 1
    assert found["flops_float32"] > 0
