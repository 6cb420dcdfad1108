"""RAPPOR: reports of strings by Bloom filters with two rounds of randomised response, and their decoding."""
