"""Which addresses the board may connect to on behalf of somebody else.

Guarantees: an address that is not public is refused however it is written, also inside
an IPv6 address that leads to an IPv4 one, unless the operator allows its network. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable

type Address = IPv4Address | IPv6Address
type Network = IPv4Network | IPv6Network

MOST = 2000  # characters of a URL
# Public by their number alone: what clouds tell a machine about itself.
_METADATA = frozenset({ip_address("168.63.129.16"), ip_address("100.100.100.200")})
_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_COMPATIBLE = ip_network("::/96")


class BadUrl(ValueError):
    """No URL that a webhook may have; the message says what is right."""


class Refused(Exception):
    """An address that must not be connected to."""


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL in its parts; `host` is without brackets."""

    scheme: str
    host: str
    port: int
    path: str  # with the query

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def read_url(url: str) -> Target:
    """Take a URL apart; raise `BadUrl` for whatever could be read in two ways."""
    if len(url) > MOST:
        raise BadUrl(f"must be at most {MOST} characters")
    if not url.isascii() or any(c <= " " or c in '\x7f\\"<>^`{|}' for c in url):
        raise BadUrl(
            "must be plain ASCII without spaces (write other names as xn--…, other"
            " characters as %xx)"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadUrl(f"is no URL: {error}") from error
    if parts.scheme not in ("http", "https"):
        raise BadUrl("must begin with https:// or http://")
    if not parts.hostname:
        raise BadUrl("must name a host")
    if parts.username is not None or parts.password is not None:
        raise BadUrl("must not hold a name or password")
    if parts.fragment:
        raise BadUrl("must not have a fragment (#)")
    if port == 0:
        raise BadUrl("must not use port 0")
    path = parts.path or "/"
    path += f"?{parts.query}" if parts.query else ""
    default = 443 if parts.scheme == "https" else 80
    return Target(parts.scheme, parts.hostname, port or default, path)


def check_url(url: str, allowed: Iterable[Network]) -> Target:
    """Check a URL when it is typed in; names are looked up only when connecting."""
    target = read_url(url)
    try:
        literal = ip_address(target.host)
    except ValueError:
        return target
    try:
        check_address(literal, allowed)
    except Refused as error:
        raise BadUrl(str(error)) from error
    return target


def check_address(address: Address, allowed: Iterable[Network]) -> None:
    """Raise `Refused` for an address that is neither public nor allowed."""
    networks = list(allowed)
    for one in _meanings(address):
        if _in_one(one, networks):
            continue
        if one in _METADATA or not _is_public(one):
            raise Refused(
                f"{address} is not a public address; the operator can allow its"
                " network with HEALTHBOARD_WEBHOOK_ALLOW"
            )


def _meanings(address: Address) -> list[Address]:
    """Return the address, or what it leads to where it wraps another one."""
    if isinstance(address, IPv4Address):
        return [address]
    found: list[Address] = []
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found += address.teredo
    if any(address in network for network in _NAT64):
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    elif address in _COMPATIBLE and int(address) > 1:
        found.append(IPv4Address(int(address)))
    return found or [address]


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address.is_site_local:
        return False
    return address.is_global and not (
        address.is_multicast
        or address.is_reserved
        or address.is_unspecified
        or address.is_loopback
        or address.is_link_local
        or address.is_private
    )


def _in_one(address: Address, networks: Iterable[Network]) -> bool:
    return any(
        address.version == network.version and address in network
        for network in networks
    )
