"""Mistakes in networks on encrypted numbers: sizes of slots, masks, counts, sessions, noise."""

from __future__ import annotations

from tests.mutants.mutant import of

ROOM = "crypto/gelu_net"
MUTANTS = [
    *of(
        f"{ROOM}/gelu_net",
        ("terms * weight + -(-weight * one // most)", "terms * weight"),
        ('terms = layer.fan_in if direction == "forward" else layer.fan_out', "terms = layer.fan_in"),
        ('(2 * self.precision.most("weights")).bit_length()', 'self.precision.most("weights").bit_length()'),
        (
            "return max(self._packed(place, way, None).width for way in ways)",
            "return min(self._packed(place, way, None).width for way in ways) - 1",
        ),
        ("if one.outputs != other.inputs:", "if False:"),
        ("if widest > WIDEST:", "if False:"),
    ),
    *of(
        f"{ROOM}/layers",
        ("return self.filters * min(self.uses, self.side**2)", "return self.filters"),
        ("return np.repeat(bias, self.uses)", "return np.tile(bias, self.uses)"),
        ("by_filter.sum(axis=(0, 2))", "by_filter.mean(axis=(0, 2))"),
        ("by_filter.sum(axis=2)], axis=1)", "by_filter[:, :, 0]], axis=1)"),
    ),
    *of(
        f"{ROOM}/activation",
        ("values * np.exp(-0.5 * values**2)", "np.exp(-0.5 * values**2)"),
        ("return found * (1 - found)", "return found"),
    ),
    *of(
        f"{ROOM}/key_proof",
        ("any(n % prime == 0 for prime in range(3, SMALLEST, 2))", "False"),
        ("len(proof) == ROOTS * size and ", ""),
        ("gmp().powmod(root, n, n) != one", "False"),
    ),
    *of(
        f"{ROOM}/paillier_cipher",
        ("uniform_below(max(1, key.modulus >> width), bits) << width", "big(0) << width"),
        ("width = array.packing.width * _count(array, place)", "width = array.packing.width * array.slots"),
        ("uniform_below(max(1, key.modulus >> width), bits)", "uniform_below(1 << 8, bits)"),
        (
            "[gmp().powmod(uniform_unit(n, bits), n, square)",
            "[gmp().powmod(self.public.base, uniform_unit(n, bits), square)",
        ),
        ("if array.interval != packing.interval:", "if False:"),
        (
            "(array.shape, array.packing, array.exponent) != (shape, packing, 0)",
            "(array.shape, array.exponent) != (shape, 0)",
        ),
        ("if any(one is None for one in plain):", "if False:"),
        ("check_key_proof(key, opening[1])", "pass"),
        ('strict and key.randomness == "subgroup"', "False"),
        ("hidden_above(found.refreshed(self.zeros, self.bits)", "hidden_above(found"),
    ),
    *of(
        f"{ROOM}/server_weights",
        (
            "self._masked_by and (client != self._masked_by or not masked)",
            "self._masked_by and client != self._masked_by",
        ),
        ("values -= self.net.rate *", "values += self.net.rate *"),
        ("centred(values + move, self.net.mask_bits(place))", "values + move"),
        ("return (steps + half) % whole - half", "return steps % whole - half"),
    ),
    *of(
        f"{ROOM}/updates",
        ("self._left[place] = step - whole", "self._left[place] = 0 * step"),
        ("one.min() < 0 or one.max() >> net.mask_bits(place)", "one.min() < 0"),
        (">> np.uint64(64 - bits)", ">> np.uint64(66 - bits)"),
        ("(whole.astype(np.int64) + fresh) % (1 << bits)", "whole.astype(np.int64) % (1 << bits)"),
        ("np.clip(np.rint(np.ldexp(one, GRADIENT)), -LARGEST, LARGEST)", "np.rint(np.ldexp(one, GRADIENT))"),
    ),
    *of(
        f"{ROOM}/slot_allowance",
        ("if slots > left:", "if slots > left + 1:"),
        ("self._keep(json.dumps(counted, sort_keys=True))", "pass"),
        ("max(self._used.get(client, {}).values(), default=0)", "min(self._used.get(client, {}).values(), default=0)"),
    ),
    *of(
        f"{ROOM}/gelu_message",
        ("(kind is not int or 0 <= value < 2**31)", "True"),
        ("set(facts) != set(kinds) or ", ""),
        ("if len(head) > LONGEST_HEAD:", "if False:"),
    ),
    *of(
        f"{ROOM}/gelu_server",
        ("if number != session.due:", "if number > session.due:"),
        ("session is None or session.name != message.round", "session is None"),
        ("training and message.sender not in self.trainers", "False"),
        ('if direction == "backward" and not session.training:', "if False:"),
        ("self.allowance.spend(session.client, place, rows)", "pass"),
        ("if not 1 <= rows <= self.most_rows:", "if rows > self.most_rows:"),
        ("kept.get(batch, (0, None))[0] != rows", "batch not in kept"),
        ("and len(kept) < MOST_BATCHES", ""),
        ("session.kept_bytes + len(payload) <= MOST_KEPT", "True"),
        ("self.weights.check_for(session.client, masked=session.masked)\n        given", "given"),
        (
            "self.weights.check_for(session.client, masked=session.masked)\n        if session.masked",
            "if session.masked",
        ),
        ('update == "masked" and not training and not self.weights.masked_by', "False"),
        ('self.weights.check_for(message.sender, masked=update == "masked")', "pass"),
        ("if message.sender == self.identity.name:", "if False:"),
        ("strict=not training", "strict=False", "what it changes is seen under keys that were crafted"),
    ),
    *of(
        f"{ROOM}/gelu_client",
        ('if found["nonce"] != nonce or ', "if "),
        ('GeluNet.from_json(found["net"]) != self.net', "False"),
        ('if found.facts["number"] != self._number:', "if False:"),
        ("if (message.round, message.kind) != (self._session, due):", "if message.kind != due:"),
        ("if first and kept:", "if first:"),
        ("if not (np.abs(given) <= most).all():", "if (np.abs(given) > most).any():"),
        ('if self._updates.kind == "noisy":', "if False:"),
    ),
    *of(
        f"{ROOM}/experimental/ring_cipher",
        ("float(most) * terms * max(PRIMES) >= EXACT", "False"),
        ("error >= step_of(net.packing(place, way)) / 2 or ", ""),
        ("heads.astype(np.int64) - tails.astype(np.int64)", "heads.astype(np.int64)"),
        ("((found + step // 2) // step)", "(found // step)"),
    ),
    *of(
        f"{ROOM}/experimental/ring",
        ("np.where(found > Q // 2, found - Q, found)", "found"),
        ("return found * np.uint64(pow(DEGREE, -1, prime)) % p", "return found"),
    ),
    *of(
        f"{ROOM}/disclosures",
        ("if limit < fewest:", "if limit <= fewest:"),
    ),
    *of(
        "trust/gelu_net/noisy_training",
        ("return Repeated(self.mechanism.event, self.steps)", "return self.mechanism.event"),
        ("if data.public_size is None:", "if False:"),
        ("np.asarray(total) / records", "np.asarray(total)"),
        ("np.clip(inputs[at : at + batch], -most, most)", "inputs[at : at + batch]"),
        ('client.update_kind != "noisy" or ', ""),
    ),
    *of(
        "trust/gelu_net/gelu_service",
        ("self._server.end(client)", "pass"),
        ("client in self._server.trainers", "True"),
        ('f"the server failed ({kind})"', 'f"the server failed ({why})"'),
        ("if not fine:", "if False:"),
    ),
    *of(
        "trust/gelu_net/gelu_line",
        ("if kind == NotPermitted.__name__:", "if False:"),
        (
            "if self._link.name != members.server.name:",
            "if False:",
            "TLS trusts the server's card and the own one alone",
        ),
        tests="trust/gelu_net/test_gelu_service.py",
    ),
]
