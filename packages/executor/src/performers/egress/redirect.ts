import { failure } from "../failure.js";

/** A request on its way through redirects. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** What may follow to another origin: nothing that could say who asks. */
const CROSS_ORIGIN_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "content-type",
]);

/** Whether a status sends the request elsewhere, if a location comes with it. */
export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * The request that follows a redirect, as the Fetch standard says ("HTTP-redirect fetch"): POST becomes GET at 301 and
 * 302, everything but HEAD at 303, and then loses its body; another origin gets no header that is not
 * plain. Stricter in one point: what began under TLS does not go on without it.
 *
 * @throws EffectError "provider" for a location that is no URL, "refused" for a step from https to http.
 */
export function nextHop(hop: Hop, status: number, location: string): Hop {
  const url = locationOf(hop.url, location);
  if (hop.url.protocol === "https:" && url.protocol === "http:") {
    throw failure(
      "refused",
      "downgrade",
      "fetchData: a redirect from https to http is not followed",
    );
  }
  const drop = becomesGet(hop.method, status);
  const sameOrigin = url.origin === hop.url.origin;
  const headers = Object.entries(hop.headers).filter(
    ([name]) =>
      !(drop && name.startsWith("content-")) && (sameOrigin || CROSS_ORIGIN_HEADERS.has(name)),
  );
  return {
    url,
    method: drop ? "GET" : hop.method,
    headers: Object.fromEntries(headers),
    body: drop ? undefined : hop.body,
  };
}

function locationOf(base: URL, location: string): URL {
  try {
    return new URL(location, base);
  } catch {
    throw failure("provider", "redirect", "fetchData: the answer redirects to what is no URL");
  }
}

function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== "GET" && method !== "HEAD";
  return (status === 301 || status === 302) && method === "POST";
}
