"""What each side learns in spite of encryption: printed with every run."""

from __future__ import annotations

from discreet.crypto.gelu_net.gelu_net import GeluNet
from discreet.crypto.gelu_net.updates import SEEN, UpdateKind


def disclosures(net: GeluNet, update: UpdateKind | None, limit: int | None = None) -> tuple[str, ...]:
    """What the client and the server learn, in sentences.

    Parameters
    ----------
    net : GeluNet
        Public.
    update : {"clear", "masked", "noisy"}, optional
        Public. How weights are moved; none where the client only asks for predictions.
    limit : int, optional
        Public. How many slots of each layer a client may ask.

    Examples
    --------
    >>> from discreet.crypto.gelu_net.layers import DenseLayer
    >>> print(disclosures(GeluNet((DenseLayer(64, 10, "identity"),)), None, 20)[1])  # doctest: +ELLIPSIS
    The first layer has 64 weights and a bias for each of 10 outputs: 65 questions give all of them...
    """
    first = net.layers[0]
    told = [
        "The client sees what every layer gives before its activation.",
        f"The first layer has {first.fan_in} weights and a bias for each of {first.channels} outputs:"
        f" {first.fan_in + 1} questions give all of them exactly, and so on layer by layer.",
        "The server sees who asks, how often, the number of records, the network, and whether a batch comes again.",
    ]
    if update is not None:
        told += [
            "A client that trains knows the weights: it computes every gradient, and many answers give the rest.",
            f"Updates are {update}: {SEEN[update]}.",
        ]
    else:
        told.append(_counted(net, limit))
    told.append("Both sides are taken to compute what was agreed: nobody is protected from one that does not.")
    if update == "noisy":
        told.append("The promise of the noise holds if the server multiplies each record by itself, as was agreed.")
    return tuple(told)


def _counted(net: GeluNet, limit: int | None) -> str:
    """What a limit on slots is worth."""
    fewest = min(net.telling_slots(place) for place in range(len(net.layers)))
    width = net.packing(0, "forward").width
    worth = f"a slot of the first layer tells at most {width} bits of each output's weights, whatever is sent"
    if limit is None:
        return f"Questions are not limited: {worth}, and from {fewest} slots on some layer may be known whole."
    if limit < fewest:
        return f"{limit} slots of each layer may be asked: {worth}, fewer than any column of weights has."
    return f"{limit} slots of each layer may be asked: {worth}, and from {fewest} on some layer may be known whole."
