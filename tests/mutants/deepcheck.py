"""Mistakes in what is rehearsed, restored, drawn and resumed in deep learning."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "deep/checks/rehearsal",
        ("if not apart or (_finite(moved) and self._far(moved, plain)):", "if not apart:"),
        ("if not apart or (_finite(moved) and self._far(moved, plain)):", "if self._far(moved, plain):"),
        ("if found := differing(written, changed):", "if found := differing(written, written):"),
        ("if not self.others and self._far(fewer, plain):", "if False:"),
        ("    if three == two:\n        return 0\n", ""),
        ("found[name] = (one.detach() + noise", "found[name] = (one.detach() + 0 * noise"),
        ("if wrong:\n            taken = self._with_whole(taken, wrong)", "if False:\n            pass"),
        ("if self.random:", "if False:"),
    ),
    *of(
        "deep/checks/model_state",
        ("        for table, own in owners:\n            table.update(own)\n", "        pass\n"),
        ("one is not None and one in by_own", "one is not None and name in others"),
        tests="deep/clipping/test_clipped_sum.py deep/checks/test_rehearsal.py",
    ),
    *of(
        "deep/clipping/capture",
        ("            for wrong in run.wrong:\n                counts = counts & ~wrong\n", ""),
        ("each < 2 else {name: form.grouped(each)", "True else {name: form.grouped(each)"),
        ("if lead.each == 0 and layer.trained:", "if lead.each == 0:"),
        ("found = torch.where(counts, found, 0)", "found = torch.where(counts, found, found)"),
        tests="deep/checks/test_rehearsal.py deep/checks/test_failing_records.py",
    ),
    *of(
        "deep/clipping/indices_in_range",
        ("return (indices < least) | (indices >= size)", "return indices >= size"),
        ("return (indices < least) | (indices >= size)", "return (indices < least) | (indices > size)"),
        tests="deep/checks/test_failing_records.py",
    ),
    *of(
        "deep/checks/failing_records",
        ("kept[~torch.isin(kept, failing)]", "kept[:0]"),
        ("        if len(places) < 2:\n            return places\n", "        return places\n"),
    ),
    *of(
        "deep/questions/sampled_gradient",
        ("        self._state.renew()\n", ""),
        (
            "with secret_draws(shown.bits, self._device):\n            sums",
            "with nullcontext():\n            sums",
        ),
        ("return self.clip, self.most, self._chunk", "return self.most, self._chunk"),
        ("first / span <= clip <= first * span", "first / span <= clip"),
        tests="deep/checks/test_secret_draws.py deep/checks/test_rehearsal.py deep/training/test_trainer.py "
        "deep/training/test_processes.py",
    ),
    *of(
        "deep/checks/secret_draws",
        ("[FIRST : FIRST + WORDS] = torch", "[FIRST : FIRST + 1] = torch"),
        ("torch.set_rng_state(_state(bits))", "pass"),
    ),
    *of(
        "deep/training/checkpoint",
        ("or not 0 <= done <= steps", "or not done <= steps"),
        ("or not 0 <= done <= steps", "or done < 0"),
        tests="deep/training/test_trainer.py",
    ),
    *of("deep/training/checkpoint", ("            one.load_state_dict(before[name])\n", "            pass\n")),
    *of(
        "deep/training/trainer",
        ('        self._gradient.check_state(checkpoint["gradients"])\n', ""),
        tests="deep/training/test_trainer.py",
    ),
    *of(
        "deep/training/training_plan",
        ('if self.sample.scheme != "poisson":', "if False:"),
        tests="deep/training/test_trainer.py",
    ),
]
