from weighbridge.formats.split import part_of_name


def test_a_part_knows_its_siblings():
    part = part_of_name("m-Q4_K_M-00002-of-00003")
    assert (part.stem, part.number, part.count) == ("m-Q4_K_M", 2, 3)
    assert part.name(1) == "m-Q4_K_M-00001-of-00003"


def test_the_older_spelling_is_a_part_too():
    part = part_of_name("grok-1-IQ3_XS-split-00001-of-00009")
    assert (part.stem, part.number, part.count) == ("grok-1-IQ3_XS", 1, 9)
    assert part.name(9) == "grok-1-IQ3_XS-split-00009-of-00009"


def test_whole_files_and_impossible_numbers_are_no_parts():
    assert part_of_name("m-Q4_K_M") is None
    assert part_of_name("m-00004-of-00003") is None
    assert part_of_name("m-00000-of-00003") is None
    assert part_of_name("m-1-of-3") is None
