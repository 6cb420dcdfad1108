"""A party without protection: sends its vector in the clear, over the same lines. Prints where it listens."""

from __future__ import annotations

import asyncio
import contextlib
import sys

import numpy as np

from discreet.query.federation_file import read_federation
from discreet.service.key_file import read_identity
from discreet.trust.network.link import Link
from discreet.trust.network.listener import listening


async def main(federation_file: str, identity_file: str, size: int) -> None:
    federation, identity = read_federation(federation_file), read_identity(identity_file)
    vector = np.arange(size, dtype=np.int64)

    async def met(link: Link) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await link.receive(0)
                await link.send(vector.tobytes())

    door = await listening("127.0.0.1:0", identity, federation, met)
    print(f"plain listens at {door.address}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
