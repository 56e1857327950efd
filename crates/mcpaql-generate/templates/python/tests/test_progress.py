"""What clients hear of a call while it runs."""

import asyncio
import math
import unittest

from adapter_template.runtime.caller import Caller, News
from adapter_template.runtime.progress import Scale, with_progress


class Scales(unittest.TestCase):
    def test_the_clock_rises_strictly_and_stays_below_ninety(self) -> None:
        scale, last = Scale(), 0.0
        for seconds in (*range(1, 1000), 86_400, 86_401, 10_000_000):
            announced = scale.next(seconds)
            assert announced is not None
            self.assertTrue(last < announced[0] < 90)
            self.assertEqual(announced[1], f"Running for {seconds} s")
            last = announced[0]

    def test_what_the_work_says_and_the_clock_rise_together(self) -> None:
        scale, announced = Scale(), []
        for done, total in ((1.0, 10.0), (5.0, 10.0), (2.0, 10.0), (7.0, None), (1e9, 0.0), (math.nan, math.nan)):
            scale.heard = News(done, total, f"step {done}")
            announced.append(scale.next(3))
        self.assertEqual(announced[:2], [(18.0, "step 1.0"), (50.0, "step 5.0")])
        rising = [told[0] for told in announced if told]
        self.assertEqual((len(rising), rising), (6, sorted({*rising})))
        self.assertLess(rising[-1], 90)


class Announcements(unittest.IsolatedAsyncioTestCase):
    async def test_what_the_work_says_is_announced_when_it_is_said_and_nothing_follows_the_answer(self) -> None:
        caller, told = Caller(), asyncio.Queue[tuple[float, str]]()

        async def work() -> str:
            for done in (1, 2):
                caller.progress(News(done, 4, f"step {done}"))
                self.assertEqual(await told.get(), (10 + 20 * done, f"step {done}"))
            caller.progress(News(3, 4, "step 3"))
            return "done"

        async def announce(done: float, message: str) -> None:
            told.put_nowait((done, message))

        self.assertEqual(await with_progress(work(), caller, announce), "done")
        self.assertTrue(told.empty())


if __name__ == "__main__":
    unittest.main()
