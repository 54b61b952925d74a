"""XXH3 of 64 bits without seed, by which Kafka tells whether the topics that a group subscribes to have changed.

Source: the XXH3 specification. The tests hold it against the library that Kafka uses. Inputs here are short (a topic's
name, its partitions and their racks) and results are kept, so plain Python is fast enough.
"""

from __future__ import annotations

from struct import Struct, unpack_from

_MASK = (1 << 64) - 1
_PRIME32_1, _PRIME32_2, _PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_PRIME64_1, _PRIME64_2, _PRIME64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_PRIME64_4, _PRIME64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_PRIME_MX1, _PRIME_MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8"
    "fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb17"
    "0ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_U64 = Struct("<Q")
_STRIPE = 64
_ACCUMULATORS = (
    _PRIME32_3,
    _PRIME64_1,
    _PRIME64_2,
    _PRIME64_3,
    _PRIME64_4,
    _PRIME32_2,
    _PRIME64_5,
    _PRIME32_1,
)


def xxh3_64(data: bytes) -> int:
    """The hash as a signed number of 64 bits, as Java has it."""
    size = len(data)
    if size <= 16:
        value = _up_to_16(data)
    elif size <= 128:
        value = _up_to_128(data)
    elif size <= 240:
        value = _up_to_240(data)
    else:
        value = _long(data)
    return value - (1 << 64) if value >> 63 else value


def _up_to_16(data: bytes) -> int:
    size = len(data)
    if size > 8:
        low = _read64(data, 0) ^ _secret64(24) ^ _secret64(32)
        high = _read64(data, size - 8) ^ _secret64(40) ^ _secret64(48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche(size + swapped + high + _fold(low, high))
    if size >= 4:
        first: int = unpack_from("<I", data)[0]
        last: int = unpack_from("<I", data, size - 4)[0]
        value = (last + (first << 32)) ^ _secret64(8) ^ _secret64(16)
        value ^= _rotate(value, 49) ^ _rotate(value, 24)
        value = value * _PRIME_MX2 & _MASK
        value ^= (value >> 35) + size
        value = value * _PRIME_MX2 & _MASK
        return value ^ value >> 28
    if size:
        value = data[0] << 16 | data[size >> 1] << 24 | data[size - 1] | size << 8
        flip = int.from_bytes(_SECRET[0:4], "little") ^ int.from_bytes(_SECRET[4:8], "little")
        return _avalanche_xxh64(value ^ flip)
    return _avalanche_xxh64(_secret64(56) ^ _secret64(64))


def _up_to_128(data: bytes) -> int:
    size = len(data)
    value = size * _PRIME64_1
    for i in reversed(range((size - 1) // 32 + 1)):
        value += _mix16(data, 16 * i, 32 * i)
        value += _mix16(data, size - 16 * (i + 1), 32 * i + 16)
    return _avalanche(value)


def _up_to_240(data: bytes) -> int:
    size = len(data)
    value = size * _PRIME64_1
    for i in range(8):
        value += _mix16(data, 16 * i, 16 * i)
    value = _avalanche(value)
    for i in range(8, size // 16):
        value += _mix16(data, 16 * i, 16 * (i - 8) + 3)
    value += _mix16(data, size - 16, 136 - 17)
    return _avalanche(value)


def _long(data: bytes) -> int:
    size = len(data)
    accumulators = list(_ACCUMULATORS)
    stripes = (len(_SECRET) - _STRIPE) // 8
    block = stripes * _STRIPE
    whole = (size - 1) // block
    for start in range(0, whole * block, block):
        for i in range(stripes):
            _accumulate(accumulators, data, start + i * _STRIPE, 8 * i)
        for i, value in enumerate(accumulators):
            value = (value ^ value >> 47) ^ _secret64(len(_SECRET) - _STRIPE + 8 * i)
            accumulators[i] = value * _PRIME32_1 & _MASK
    for i in range((size - 1 - whole * block) // _STRIPE):
        _accumulate(accumulators, data, whole * block + i * _STRIPE, 8 * i)
    _accumulate(accumulators, data, size - _STRIPE, len(_SECRET) - _STRIPE - 7)
    value = size * _PRIME64_1
    for i in range(0, 8, 2):
        value += _fold(accumulators[i] ^ _secret64(11 + 8 * i), accumulators[i + 1] ^ _secret64(19 + 8 * i))
    return _avalanche(value)


def _accumulate(accumulators: list[int], data: bytes, start: int, secret: int) -> None:
    for i, value in enumerate(unpack_from("<8Q", data, start)):
        keyed = value ^ _secret64(secret + 8 * i)
        accumulators[i ^ 1] = accumulators[i ^ 1] + value & _MASK
        accumulators[i] = accumulators[i] + (keyed & 0xFFFFFFFF) * (keyed >> 32) & _MASK


def _mix16(data: bytes, start: int, secret: int) -> int:
    return _fold(_read64(data, start) ^ _secret64(secret), _read64(data, start + 8) ^ _secret64(secret + 8))


def _fold(a: int, b: int) -> int:
    product = a * b
    return product & _MASK ^ product >> 64


def _avalanche(value: int) -> int:
    value &= _MASK
    value ^= value >> 37
    value = value * _PRIME_MX1 & _MASK
    return value ^ value >> 32


def _avalanche_xxh64(value: int) -> int:
    value ^= value >> 33
    value = value * _PRIME64_2 & _MASK
    value ^= value >> 29
    value = value * _PRIME64_3 & _MASK
    return value ^ value >> 32


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _read64(data: bytes, start: int) -> int:
    value: int = _U64.unpack_from(data, start)[0]
    return value


def _secret64(start: int) -> int:
    return _read64(_SECRET, start)
