import fc from "fast-check";
import { expect, test } from "vitest";
import {
  inNetworks,
  isPublicAddress,
  parseNetwork,
} from "../../../src/performers/egress/address.js";

const INNER = {
  unspecified: ["0.0.0.0", "0.1.2.3", "::"],
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
  "link-local": ["169.254.0.1", "fe80::1", "febf::1", "fec0::1"],
  "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
  multicast: ["224.0.0.1", "239.255.255.250", "ff02::1"],
  broadcast: ["255.255.255.255"],
  reserved: ["192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "240.0.0.1"],
  "documentation (v6)": ["2001:db8::1", "3fff::1", "100::1", "5f00::1"],
  "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0a00:1"],
  "IPv4-compatible": ["::127.0.0.1", "::8.8.8.8"],
  NAT64: ["64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::10.0.0.1"],
  "SIIT translation": ["::ffff:0:127.0.0.1"],
  "6to4 and Teredo": ["2002:7f00:1::1", "2002:a00:1::", "2001:0:4136:e378::1", "192.88.99.1"],
  unallocated: ["1000::1", "4000::1", "e000::1"],
  metadata: ["169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"],
  "no address": ["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "fe80::1%eth0", "2a00::1%1"],
};

test.each(Object.entries(INNER))("[EX-Y2] %s is not public, in any spelling", (_kind, list) => {
  expect(list.filter(isPublicAddress)).toEqual([]);
});

test("[EX-Y2] plain unicast is public", () => {
  const list = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "2a00::1"];
  expect(list.filter((address) => !isPublicAddress(address))).toEqual([]);
});

test("[EX-Y2] no IPv6 address that embeds an inner IPv4 address in its last bits is public", () => {
  const part = fc.integer({ min: 0, max: 255 });
  const prefix = fc.constantFrom("::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::");
  fc.assert(
    fc.property(prefix, part, part, part, (start, b, c, d) => {
      expect(isPublicAddress(`${start}127.${b}.${c}.${d}`)).toBe(false);
    }),
  );
});

test("[EX-Y4] an opened block holds its addresses and no other form of them", () => {
  const networks = ["10.1.0.0/16", "fd00::/8", "127.0.0.1"].map((text) => parseNetwork(text)!);
  const inside = (address: string): boolean => inNetworks(address, networks);
  expect(["10.1.2.3", "fd12::1", "127.0.0.1"].every(inside)).toBe(true);
  expect(["10.2.0.1", "fc00::1", "127.0.0.2", "::ffff:10.1.2.3", "x"].some(inside)).toBe(false);
});

test("[EX-Y2] a cloud's metadata stays closed in a block that is opened, unless it is opened alone", () => {
  const whole = ["0.0.0.0/0", "169.254.0.0/16", "::/0"].map((text) => parseNetwork(text)!);
  for (const address of INNER.metadata) {
    expect(inNetworks(address, whole)).toBe(false);
    expect(inNetworks(address, [parseNetwork(address)!])).toBe(true);
  }
});

test("[EX-Y4] a block that is written otherwise is none", () => {
  const wrong = ["", "10", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "::/129", "10.0.0.0/"];
  for (const text of [...wrong, "host/8", "fe80::%1/10", "0x0a.0.0.0/8", "10.0.0.0/1e1"]) {
    expect([text, parseNetwork(text)]).toEqual([text, undefined]);
  }
});
