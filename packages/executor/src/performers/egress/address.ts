import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A block of addresses in CIDR notation. */
export interface Network {
  readonly address: ipaddr.IPv4 | ipaddr.IPv6;
  readonly bits: number;
}

/** What is allocated as global unicast; whatever embeds an IPv4 address lies elsewhere or is named as special. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Where clouds hand credentials to whoever asks from inside. Some look public, some lie in blocks that are opened. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  "169.254.169.254",
  "169.254.169.253",
  "169.254.169.123",
  "169.254.170.2",
  "169.254.170.23",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
]);

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address; `undefined` for anything else. */
export function parseNetwork(text: string): Network | undefined {
  const [address = "", bits, ...rest] = text.split("/");
  if (isIP(address) === 0 || address.includes("%") || rest.length > 0) return undefined;
  const parsed = ipaddr.parse(address);
  const width = parsed.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return { address: parsed, bits: width };
  if (!/^\d{1,3}$/u.test(bits) || Number(bits) > width) return undefined;
  return { address: parsed, bits: Number(bits) };
}

/**
 * Whether an address is one of the public internet: plain unicast, no private, local, shared, test, multicast or
 * reserved block, no cloud's metadata, and no IPv6 form that an IPv4 address hides in (mapped, compatible, NAT64,
 * 6to4, Teredo), since a translator on the way would undo what was checked. Text that is no address is not public.
 */
export function isPublicAddress(text: string): boolean {
  const address = read(text);
  if (address === undefined || METADATA_ADDRESSES.has(address.toString())) return false;
  if (address.range() !== "unicast") return false;
  return address.kind() === "ipv4" || address.match(GLOBAL_UNICAST_V6);
}

/** Whether an address lies in a block that was opened. One of a cloud's metadata has to be opened by itself. */
export function inNetworks(text: string, networks: readonly Network[]): boolean {
  const address = read(text);
  if (address === undefined) return false;
  const alone = METADATA_ADDRESSES.has(address.toString());
  const width = address.kind() === "ipv4" ? 32 : 128;
  return networks.some(
    (network) =>
      network.address.kind() === address.kind() &&
      (!alone || network.bits === width) &&
      address.match(network.address, network.bits),
  );
}

/** Only the plain spellings: what `inet_aton` takes besides (`0x7f.1`) is no address here. */
function read(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 || text.includes("%") ? undefined : ipaddr.parse(text);
}
