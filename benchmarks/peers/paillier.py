"""What one number costs in a sum under Paillier's encryption, with phe on gmpy2. Prints JSON."""

from __future__ import annotations

import json
import time

import phe
import phe.util

KEY_BITS, NUMBERS, ADDED = 2048, 100, 20_000


def main() -> None:
    if not phe.util.HAVE_GMP:
        raise SystemExit("phe does not find gmpy2, and would look slower than it is")
    public, private = phe.generate_paillier_keypair(n_length=KEY_BITS)
    values = [(number * 0x9E3779B97F4A7C15) % 2**40 for number in range(NUMBERS)]
    start = time.process_time()
    encrypted = [public.encrypt(value) for value in values]
    encryption = (time.process_time() - start) / NUMBERS
    total = encrypted[0]
    start = time.process_time()
    for place in range(1, ADDED):
        total = total + encrypted[place % NUMBERS]
    addition = (time.process_time() - start) / (ADDED - 1)
    if private.decrypt(total) != sum(values) * (ADDED // NUMBERS):
        raise SystemExit("the sum is wrong")
    figures = {
        "library": f"phe {phe.__version__} with gmpy2",
        "key_bits": KEY_BITS,
        "seconds_per_encryption": encryption,
        "seconds_per_addition": addition,
        "seconds_per_number": encryption + addition,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
