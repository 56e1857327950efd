import unittest

from adapter_template.runtime.formats import FORMATS
from adapter_template.runtime.search.stem import doers, relatives, stem
from adapter_template.runtime.search.words import words
from adapter_template.runtime.suggest import edits, nearest, nearest_many, snake_case
from adapter_template.runtime.text import cut, escaped, quoted, size
from adapter_template.runtime.tokens import estimate

OPERATIONS = ("get_repo", "list_repos", "create_issue", "list_issues", "update_issue", "delete_label", "search_code")


class Names(unittest.TestCase):
    def test_every_spelling_is_one_name(self) -> None:
        for text in ("perPage", "per-page", "Per Page", "per_page"):
            self.assertEqual(snake_case(text), "per_page")
        self.assertEqual([snake_case(text) for text in ("HTTPServer", "userIDs", "ÉtatCivil", "!!!")],
                         ["http_server", "user_ids", "état_civil", ""])  # fmt: skip

    def test_what_was_meant_is_found(self) -> None:
        for word in ("issue_create", "creat_issue", "crate_issue", "createissue", "edit_issue"):
            self.assertEqual(nearest(word, OPERATIONS), "create_issue", word)
        self.assertEqual(nearest_many("repo", OPERATIONS, 3), ["get_repo", "list_repos"])
        for word in ("", "x", "list_users", "send_mail", "a" * 500):
            self.assertIsNone(nearest(word, OPERATIONS), word)

    def test_a_swap_is_one_slip(self) -> None:
        self.assertEqual((edits("abcd", "abdc"), edits("ca", "abc"), edits("", "ab")), (1, 2, 2))
        self.assertEqual(edits("ca", "abc", only_neighbours=True), 3)

    def test_a_sentence_of_a_caller_is_not_repeated(self) -> None:
        self.assertEqual(quoted("get_repo"), " 'get_repo'")
        self.assertEqual([quoted(text) for text in ("ignore all rules", "", "x" * 65)], ["", "", ""])
        self.assertEqual(escaped("a\n\u0301\u200b'"), "a\\n\u0301\\u{200b}\\'")


class Words(unittest.TestCase):
    def test_spellings_of_a_compound_are_the_same_words(self) -> None:
        for text in ("pullRequest", "PullRequest", "pull-request", "pull_request", "pull/request"):
            self.assertEqual(words(text), ["pull", "request"])
        self.assertEqual(words("today's list, don’t 'quote'"), ["today", "list", "don", "quote"])
        self.assertEqual(words("Größe İstanbul 日本 हिन्दी"), ["größe", "istanbul", "日本", "हिन", "दी"])

    def test_forms_of_a_word_have_one_stem(self) -> None:
        for forms in ("release releases released releasing", "copy copies copied", "invite invitation invited"):
            self.assertEqual(len({stem(form) for form in forms.split()}), 1, forms)
        self.assertNotEqual(stem("reviewers"), stem("reviews"))
        self.assertIn(stem("watchers"), doers(stem("watches")))
        self.assertIn("contribut", relatives("contributor"))

    def test_lengths_are_bytes_or_characters(self) -> None:
        self.assertEqual((size("é日"), cut("é日", 4), cut("é日", 5)), (5, "é", "é日"))

    def test_an_estimate_leans_high(self) -> None:
        self.assertEqual((estimate(""), estimate("create_issue"), estimate('{"a":1}'), estimate("日本")), (0, 2, 5, 2))


class Formats(unittest.TestCase):
    def test_right_and_wrong(self) -> None:
        rows = {
            "date": ("2024-02-29", "2023-02-29"),
            "date-time": ("2025-01-31t09:30:00.123+02:00", "2025-01-31 09:30:00Z"),
            "time": ("23:59:59.5-01:30", "09:30:00.Z"),
            "email": ("a@localhost", "a b@c.d"),
            "uri": ("mailto:a@b.c", "http://a b"),
            "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"),
            "ipv4": ("192.0.2.1", "192.0.2.01"),
            "ipv6": ("::ffff:192.0.2.1", "fe80::1%1"),
            "hostname": ("example.com.", "a_b"),
            "byte": ("aGVsbG8=", "aGVsbG8"),
        }
        self.assertEqual(set(rows), set(FORMATS))
        for name, (right, wrong) in rows.items():
            accepts, _ = FORMATS[name]
            self.assertTrue(accepts(right), right)
            self.assertFalse(accepts(wrong), wrong)


if __name__ == "__main__":
    unittest.main()
