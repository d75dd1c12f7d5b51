"""Which URLs and addresses are refused, however they are written."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest

from notify.addresses import BadUrl, Refused, check_address, check_url, read_url

REFUSED = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "2001:0:7f00:1::",
    "2001:0:808:808::f5ff:fffe",
]


@pytest.mark.parametrize("address", REFUSED)
def test_an_address_that_is_not_public_is_refused(address):
    with pytest.raises(Refused, match="not a public address"):
        check_address(ip_address(address), [])


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "1.1.1.1",
        "2606:4700:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
    ],
)
def test_a_public_address_passes(address):
    check_address(ip_address(address), [])


@pytest.mark.parametrize(
    ("address", "network", "passes"),
    [
        ("10.1.2.3", "10.0.0.0/8", True),
        ("10.1.2.3", "10.2.0.0/16", False),
        ("::ffff:10.1.2.3", "10.0.0.0/8", True),
        ("fd00::5", "fd00::/8", True),
        ("fd00::5", "10.0.0.0/8", False),
        ("127.0.0.1", "::1/128", False),
        ("169.254.169.254", "169.254.169.254/32", True),
    ],
)
def test_the_operator_allows_networks_and_nothing_else(address, network, passes):
    if passes:
        check_address(ip_address(address), [ip_network(network)])
        return
    with pytest.raises(Refused):
        check_address(ip_address(address), [ip_network(network)])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "//example.org/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:25/",
        "javascript:alert(1)",
        "http://",
        "http:///path",
        "http://user@example.org/",
        "http://user:password@example.org/",
        "http://example.org:0/",
        "http://example.org:99999/",
        "http://example.org:x/",
        "http://example.org/#fragment",
        "http://example.org\\@127.0.0.1/",
        "http://example.org/ a",
        "http://example.org/\r\nHost: evil",
        "http://example.org/\tx",
        "http://example.org/\0",
        "http://exämple.org/",
        "http://[::1/",
        "https://example.org/" + "a" * 2000,
    ],
    ids=repr,
)
def test_what_could_be_read_in_two_ways_is_no_url(url):
    with pytest.raises(BadUrl):
        read_url(url)


@pytest.mark.parametrize("address", [a for a in REFUSED if "%" not in a])
def test_a_literal_address_is_checked_when_it_is_typed_in(address):
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(BadUrl, match="not a public address"):
        check_url(f"http://{host}/hook", [])


def test_a_url_is_taken_apart():
    target = read_url("https://example.org/a/b?c=d")
    assert (target.host, target.port, target.path) == ("example.org", 443, "/a/b?c=d")
    assert read_url("http://[2606:4700::1]:8080").origin == "http://[2606:4700::1]:8080"
