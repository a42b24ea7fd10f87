import { isIP } from "node:net";
import { ProtocolError } from "@tidemark/protocol";
import { failure } from "../failure.js";
import { inNetworks, isPublicAddress, type Network, parseNetwork } from "./address.js";

/** What an operator says of where requests may go. Everything left out keeps its default. */
export interface EgressOptions {
  /** Names that may be asked: `api.example.com`, or `*.example.com` for every name below it. Default: any. */
  readonly hosts?: readonly string[];
  /** Default: 80 and 443. */
  readonly ports?: readonly number[];
  /** Blocks that may be reached although they are not public, as `10.1.0.0/16`. Default: none. */
  readonly networks?: readonly string[];
  /** Request headers that may be set beside `accept`, `accept-language` and `content-type`. */
  readonly requestHeaders?: readonly string[];
}

/** {@link EgressOptions}, checked. */
export interface EgressPolicy {
  readonly hosts: ReadonlySet<string> | undefined;
  readonly ports: ReadonlySet<number>;
  readonly networks: readonly Network[];
  readonly requestHeaders: ReadonlySet<string>;
}

/** Where one request goes. */
export interface EgressTarget {
  /** Without brackets and without the dot at the end. */
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };
const DEFAULT_REQUEST_HEADERS = ["accept", "accept-language", "content-type"];

/** Ours or the connection's, whoever asks for them (RFC 9110 §7.6.1; request smuggling). */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const HOST_PATTERN = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/u;
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/u;

/**
 * Checks an operator's words. Nothing is guessed: a policy that does not parse is no policy.
 *
 * @throws ProtocolError whose `path` names the option.
 */
export function egressPolicy(options: EgressOptions = {}): EgressPolicy {
  const { hosts, ports, networks = [], requestHeaders = [] } = options;
  return {
    hosts: hosts && new Set(hosts.map(hostPattern)),
    ports: new Set((ports ?? Object.values(DEFAULT_PORTS)).map(portNumber)),
    networks: networks.map(network),
    requestHeaders: new Set([...DEFAULT_REQUEST_HEADERS, ...requestHeaders.map(headerName)]),
  };
}

/**
 * Checks the address line of a request, before any name is looked up.
 *
 * @throws EffectError "refused".
 */
export function targetOf(policy: EgressPolicy, url: URL): EgressTarget {
  const port = DEFAULT_PORTS[url.protocol];
  if (port === undefined) throw refused("scheme", "only http and https can be fetched");
  if (url.username !== "" || url.password !== "") {
    throw refused("credentials", "a URL with a user name or a password is not fetched");
  }
  const target = {
    host: url.hostname.replace(/^\[|\]$/gu, "").replace(/\.$/u, ""),
    port: url.port === "" ? port : Number(url.port),
  };
  if (!policy.ports.has(target.port)) {
    throw refused("port", "this port is not open to requests");
  }
  if (target.host === "" || !hostAllowed(policy, target.host)) {
    throw refused("host", "this host is not among those that may be asked");
  }
  return target;
}

/** Whether a connection to this address may be made. */
export function addressAllowed(policy: EgressPolicy, address: string): boolean {
  return isPublicAddress(address) || inNetworks(address, policy.networks);
}

function hostAllowed({ hosts }: EgressPolicy, host: string): boolean {
  if (hosts === undefined || hosts.has(host)) return true;
  if (isIP(host) !== 0) return false;
  const labels = host.split(".");
  return labels.some((_label, at) => at > 0 && hosts.has(`*.${labels.slice(at).join(".")}`));
}

function hostPattern(text: string): string {
  const host = text.toLowerCase();
  if (HOST_PATTERN.test(host) || isIP(host) !== 0) return host;
  throw badOption("hosts", `${text} is no host name, and no name with *. before it`);
}

function portNumber(port: number): number {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw badOption("ports", `${port} is no port`);
}

function network(text: string): Network {
  const parsed = parseNetwork(text);
  if (parsed !== undefined) return parsed;
  throw badOption("networks", `${text} is no block of addresses such as 10.1.0.0/16`);
}

function headerName(text: string): string {
  const name = text.toLowerCase();
  if (!HEADER_NAME.test(name)) throw badOption("requestHeaders", `${text} is no header name`);
  if (OWN_HEADERS.has(name)) {
    throw badOption("requestHeaders", `${text} belongs to the connection and is never a request's`);
  }
  return name;
}

function badOption(option: keyof EgressOptions, words: string): ProtocolError {
  return new ProtocolError(`egress ${option}: ${words}`, { path: [option] });
}

function refused(reason: string, words: string) {
  return failure("refused", reason, `fetchData: ${words}`);
}
