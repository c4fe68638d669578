import pytest

from weighbridge.formats.exl_names import exl_label, exl_of_names


@pytest.mark.parametrize(
    ("name", "bits", "head_bits"),
    [
        ("4.0bpw", 4.0, None),
        ("2.06bpw_H6", 2.06, 6),
        ("3.5bpw_H6", 3.5, 6),
        ("2.0bpw-h16", 2.0, 16),
        ("4.05bpw_h6_ng6", 4.05, 6),
        ("2.0bpw-mcg", 2.0, None),
        ("8_0", 8.0, None),
        ("6_5", 6.5, None),
        ("Nous-Capybara-34B-8.0bpw-h8-exl2", 8.0, 8),
        ("Kunoichi-DPO-v2-7B-8bpw-exl2", 8.0, None),
        ("main", None, None),
        ("99bpw", None, None),
        ("0bpw", None, None),
        ("llama-3_1", None, None),
    ],
)
def test_bits_of_names(name, bits, head_bits):
    told = exl_of_names([name])
    assert (told.bits, told.head_bits) == (bits, head_bits)


@pytest.mark.parametrize(
    ("name", "method"), [("a-exl2", "exl2"), ("A-EXL3", "exl3"), ("exl3-x", "exl3"), ("exl20", None)]
)
def test_methods_of_names(name, method):
    assert exl_of_names([name]).method == method


def test_the_first_name_that_tells_counts():
    told = exl_of_names(["5.0bpw", "m-4.0bpw-h8-exl2"])
    assert (told.method, told.bits, told.head_bits) == ("exl2", 5.0, None)


def test_labels():
    assert exl_label(4.0, 6) == "4.0 bpw h6"
    assert exl_label(2.06, None) == "2.06 bpw"
    assert exl_label(3.5, 16.0) == "3.5 bpw h16"
