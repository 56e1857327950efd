import unittest

from adapter_template.runtime import jsontext


class NumbersAreSpelledAlike(unittest.TestCase):
    def test_floats(self) -> None:
        spelled = {
            1.0: "1.0", 1e-5: "0.00001", 1.25e-5: "0.0000125", -1.5e-5: "-0.000015", 1e-6: "1e-6", 1e16: "1e+16",
            1e15: "1000000000000000.0", 2.5e-8: "2.5e-8", 6.02e23: "6.02e+23", 0.0: "0.0",
        }  # fmt: skip
        for number, text in spelled.items():
            self.assertEqual(jsontext.write(number), text)

    def test_an_integer_beyond_64_bits_is_a_float(self) -> None:
        numbers = jsontext.read("[18446744073709551615, 18446744073709551616]")
        self.assertEqual(jsontext.write(numbers), "[18446744073709551615,1.8446744073709552e+19]")


class WhatIsNoJsonIsRefused(unittest.TestCase):
    def test_texts(self) -> None:
        for text in ("NaN", "[Infinity]", "1e999", '"\\ud800"', "[" * 128 + "]" * 128, "[" * 100_000, "", "{", "01"):
            with self.assertRaises(ValueError):
                jsontext.read(text)


if __name__ == "__main__":
    unittest.main()
