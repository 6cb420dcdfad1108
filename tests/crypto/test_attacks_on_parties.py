"""What was tried on schemes of several parties: for each attack and each refusal, the tests that it meets.

Doubles of cheats are found by walking `tests/crypto/odo/cheats.py`: a new class there goes through every test that
takes them all. The tables name what they are; the test below holds that all of these tests exist.
"""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
ODO, RELAY = "crypto/odo/test_odo.py", "crypto/odo/test_lying_relay.py"
PRIO3, SHARES = "crypto/prio3/test_circuits.py", "trust/aggregation/test_share_aggregator.py"
LEADER, CHEAT = "trust/aggregation/test_leader.py", f"{ODO}::test_one_cheat_is_named_or_does_no_harm"

ATTACKS: dict[str, tuple[str, ...]] = {
    "a wrong share, to one or to all (WrongShare, WrongToAll, WrongShareKept, WrongShareAgain)": (CHEAT,),
    "a polynomial of degree t + 1 (HighDegree)": (
        CHEAT,
        "crypto/odo/test_share_dealing.py::test_a_proof_goes_through_all_shares_and_no_others",
    ),
    "1000 instead of a bit, and half a coin (NotABit, HalfACoin)": (CHEAT,),
    "a number out of range (OutOfRange, Negative)": (
        CHEAT,
        "trust/schemes/test_odo_vector.py::test_a_liar_within_the_range_moves_the_sum_by_no_more_than_that",
    ),
    "all own coins 1 (AllHeads)": (CHEAT, f"{ODO}::test_coins_that_were_not_tossed_do_not_change_the_law"),
    "a dealer who is silent (Leaver)": (f"{ODO}::test_a_party_may_leave_at_each_step",),
    "a dealer who answers one party only (AnswersOne)": (
        f"{ODO}::test_a_dealer_who_answers_one_party_only_is_named_and_the_other_is_not",
    ),
    "a dealer who repeats another's dealing (Copier)": (CHEAT,),
    "false complaints (Accuser)": (CHEAT, f"{RELAY}::test_a_box_that_is_not_the_dealers_is_no_complaint"),
    "equal-looking broadcasts that differ (OtherView)": (
        CHEAT,
        f"{RELAY}::test_two_groups_with_different_views_both_stop",
    ),
    "masks, seeds and proofs that are false (MaskNotZero, OtherSeed, FalseSeeds, Garbage)": (CHEAT,),
    "replay": (
        f"{RELAY}::test_what_was_said_at_another_step_is_refused",
        "crypto/masked_sum/test_attacks.py::test_messages_that_come_again_or_out_of_turn_are_not_answered",
    ),
    "t liars at reconstruction, and t + 1 (FalseSum)": (
        f"{ODO}::test_as_many_liars_as_are_allowed_are_named_and_one_more_ends_the_round",
        "crypto/odo/test_decoding.py::test_as_many_errors_are_found_as_can_be",
    ),
    "a relay that drops, or shows different coins": (f"{RELAY}::test_whoever_is_shown_something_else_gets_no_further",),
    "a relay that reorders": (f"{RELAY}::test_lists_in_another_order_say_the_same",),
    "a relay that invents survivors": (
        f"{RELAY}::test_too_short_lists_and_forged_names_are_refused",
        "crypto/masked_sum/test_client.py::test_lists_of_survivors_that_cannot_be_are_not_signed",
    ),
    "a party that leaves at each step": (
        f"{ODO}::test_a_party_may_leave_at_each_step",
        "crypto/masked_sum/test_mask_graph.py::test_sums_are_exact_whoever_leaves_at_whichever_step",
    ),
    "any of these at random, a thousand times": (f"{ODO}::test_a_thousand_random_schedules_of_faults",),
    "Prio3: false measurements": (
        f"{PRIO3}::test_every_false_measurement_is_refused_and_the_others_are_counted",
        "crypto/prio3/test_direct_histogram.py::test_a_false_measurement_passes_as_rarely_as_the_proof_says",
        f"{SHARES}::test_a_device_that_votes_a_thousand_times_is_refused",
    ),
    "Prio3: reports sent twice": (
        f"{SHARES}::test_a_report_that_is_sent_twice_counts_once",
        f"{LEADER}::test_a_report_counts_once_however_often_it_is_sent_and_over_restarts",
    ),
    "Prio3: a helper that deviates": (
        f"{LEADER}::test_a_helper_that_deviates_has_no_false_report_counted_and_learns_nothing",
    ),
    "Prio3: leader and clients together": (
        f"{LEADER}::test_devices_that_lie_with_the_leader_still_meet_all_of_the_helpers_noise",
    ),
    "Prio3: a batch split in two to subtract": (
        f"{SHARES}::test_a_batch_cannot_be_split_in_two_to_subtract_one_from_the_other",
        f"{LEADER}::test_a_batch_is_not_split_in_two",
    ),
    "Prio3: a second question of a batch": (
        "trust/aggregation/test_collected.py::test_what_asks_several_times_is_refused_before_the_batch_is_opened",
    ),
    "fuzzed bytes": (
        f"{RELAY}::test_fuzzed_bytes_end_in_a_refusal",
        "crypto/masked_sum/test_attacks.py::test_ten_thousand_fuzzed_messages_neither_end_a_client_nor_show_a_share",
        "trust/aggregation/test_dap.py::test_ten_thousand_fuzzed_messages_are_read_or_refused",
        f"{SHARES}::test_fuzzed_bytes_never_end_an_aggregator_nor_spoil_the_others_reports",
    ),
    "secrets in a repr, a log or an error": (
        f"{ODO}::test_secrets_are_in_no_repr_log_or_error",
        f"{SHARES}::test_secrets_are_in_no_repr_log_or_error",
        f"{PRIO3}::test_secrets_are_in_no_repr",
    ),
}

REFUSALS: dict[str, tuple[str, ...]] = {
    "t of n / 3 or more: with the most that holds": (
        "trust/schemes/test_odo.py::test_a_third_of_liars_is_refused_with_the_most_that_holds",
    ),
    "noise that t cannot keep": ("trust/schemes/test_odo.py::test_other_relations_units_and_noise_are_refused",),
    "what is no count under odo: naming the scheme that would do": (
        "trust/schemes/test_learning.py::test_under_verified_shares_what_is_no_count_is_refused_before_any_charge",
    ),
    "another scheme than the federation's: Disagreement": (
        "trust/network/test_remote.py::test_a_wrong_hello_is_refused",
    ),
    "too few left: TooFewSurvivors": ("trust/test_secure_sum.py::test_with_too_few_left_there_is_an_error_and_no_sum",),
    "false shares: WrongShares": (
        f"{ODO}::test_as_many_liars_as_are_allowed_are_named_and_one_more_ends_the_round",
        "crypto/masked_sum/test_server.py::test_a_false_share_that_is_needed_gives_an_error_that_names_the_liar",
    ),
    "a refuted dealer: named with the reason while the sum goes on, and the proof is in the transcript": (
        f"{ODO}::test_the_reason_is_told",
        "crypto/odo/test_transcript.py::test_the_total_and_the_liars_are_found_again_by_whoever_was_not_there",
    ),
    "a report that fails counts for nothing, and the batch says how many": (
        f"{SHARES}::test_false_measurements_count_for_nothing_and_the_batch_says_how_many",
    ),
    "fewer reports than the least batch: no answer": (
        f"{SHARES}::test_fewer_valid_reports_than_the_least_batch_are_not_opened_and_not_paid_for",
    ),
}


def test_every_attack_and_every_refusal_has_tests_that_exist() -> None:
    known: dict[str, set[str]] = {}
    for what, tests in {**ATTACKS, **REFUSALS}.items():
        assert tests, what
        for one in tests:
            file, _, name = one.partition("::")
            if file not in known:
                body = ast.parse((TESTS / file).read_text()).body
                known[file] = {part.name for part in body if isinstance(part, ast.FunctionDef)}
            assert name in known[file], one


def test_every_double_of_a_cheat_is_in_the_table() -> None:
    from tests.crypto.odo.cheats import CHEATS

    named = " ".join(ATTACKS)
    assert [one.__name__ for one in CHEATS if one.__name__ not in named] == []
