import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIPv6, type LookupFunction } from "node:net";
import type { Clock } from "@tidemark/protocol";
import { abortReason } from "../deadline.js";
import { failure } from "../failure.js";
import { readBody } from "./body.js";
import { connectionFailure } from "./failures.js";

/** Says no version and no deployment. */
const USER_AGENT = "tidemark";

/** Bounds of one exchange. Times in ms, sizes in bytes. */
export interface ExchangeLimits {
  /** From the start until the connection stands, TLS included. */
  readonly connectMs: number;
  /** From there until the answer's head is complete. */
  readonly headMs: number;
  readonly headBytes: number;
  /** Of the answer's body, as it comes and as it is decoded. */
  readonly bodyBytes: number;
}

/** One request, as it goes over the wire. */
export interface ExchangeRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Where to connect, whatever the name means by now. Absent: the system looks the name up. */
  readonly addresses?: readonly string[];
  /** Certificates (PEM) that count in place of the system's own. */
  readonly ca?: string | undefined;
}

/** What came back. */
export interface ExchangeAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Decoded; empty where the caller did not want it. */
  readonly body: Uint8Array;
}

/** Circumstances of an exchange. */
export interface ExchangeOptions {
  readonly limits: ExchangeLimits;
  readonly clock: Clock;
  /** Ends the exchange at any point; its reason is thrown where it is an EffectError. The whole's deadline is here. */
  readonly signal: AbortSignal;
  /** Whether the body of an answer with this status is read; else the connection is closed at once. */
  readonly wantsBody: (status: number) => boolean;
}

/**
 * One HTTP exchange on a connection of its own: no pool, no proxy, no cookie, no redirect, no retry. The connection is
 * closed when this settles, however it does.
 *
 * @throws EffectError "network", "timeout", "too-large" or "invalid". It names no address and quotes no answer.
 */
export async function exchange(
  request: ExchangeRequest,
  options: ExchangeOptions,
): Promise<ExchangeAnswer> {
  const response = await headOf(request, options);
  const status = response.statusCode ?? 0;
  const answer = { status, headers: plainHeaders(response) };
  if (request.method === "HEAD" || !options.wantsBody(status)) {
    response.destroy();
    return { ...answer, body: new Uint8Array() };
  }
  try {
    const body = await readBody(response, options.limits.bodyBytes, options.signal);
    return { ...answer, body };
  } catch (error) {
    throw options.signal.aborted ? abortReason(options.signal) : connectionFailure(error);
  } finally {
    response.destroy();
  }
}

/** Sends the request and waits for the head of its answer. */
function headOf(
  request: ExchangeRequest,
  { limits, clock, signal }: ExchangeOptions,
): Promise<IncomingMessage> {
  if (signal.aborted) return Promise.reject(abortReason(signal));
  return new Promise((resolve, reject) => {
    const outgoing = open(request, limits);
    const late = (what: string, ms: number) =>
      clock.timer(ms, () => fail(failure("timeout", "late", `${what} took longer than ${ms} ms`)));
    let timer = late("connecting", limits.connectMs);
    const settle = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
    };
    const fail = (error: Error): void => {
      settle();
      outgoing.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(abortReason(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    onConnected(outgoing, request.url, () => {
      timer.cancel();
      timer = late("the head of the answer", limits.headMs);
    });
    outgoing.on("response", (response) => {
      settle();
      resolve(response);
    });
    outgoing.on("upgrade", (_response, socket) => {
      socket.destroy();
      fail(failure("invalid", "upgrade", "the answer changes to another protocol"));
    });
    // Stays: what the connection says after the answer's head is for the reader of the body.
    outgoing.on("error", (error) => fail(connectionFailure(error)));
    outgoing.end(request.body);
  });
}

function open(request: ExchangeRequest, limits: ExchangeLimits): ClientRequest {
  const { url, method, headers, body, addresses, ca } = request;
  const secure = url.protocol === "https:";
  return (secure ? httpsRequest : httpRequest)({
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/gu, ""),
    port: url.port === "" ? undefined : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method,
    headers: {
      "user-agent": USER_AGENT,
      ...headers,
      "accept-encoding": "gzip, br",
      ...(body === undefined ? {} : { "content-length": String(body.byteLength) }),
    },
    agent: false,
    maxHeaderSize: limits.headBytes,
    ...(addresses === undefined ? {} : { lookup: pinned(addresses) }),
    ...(ca === undefined ? {} : { ca }),
  });
}

/** A look-up that knows one answer. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_host, options, answer) => {
    const [first] = all;
    if (options.all === true) answer(null, all);
    else if (first !== undefined) answer(null, first.address, first.family);
    else answer(new Error("no address"), "");
  };
}

function onConnected(outgoing: ClientRequest, url: URL, fn: () => void): void {
  outgoing.on("socket", (socket) =>
    socket.once(url.protocol === "https:" ? "secureConnect" : "connect", fn),
  );
}

/** A header that comes more than once is what Node joins, or its first value. */
function plainHeaders({ headers }: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string" ? value : value?.[0],
    ]),
  );
}
