import { isIP } from "node:net";
import { type Clock, ProtocolError } from "@tidemark/protocol";
import { withDeadline } from "../../deadline.js";
import { failure } from "../../failure.js";
import { exchange, type ExchangeLimits } from "../../http/exchange.js";
import type { LlmProvider, LlmRequest } from "../provider.js";
import { settledText, statusFailure } from "./answer.js";
import { completionBody, type ObjectMode } from "./request-body.js";

/** Bounds of one completion. Times in ms, sizes in bytes. */
export interface ProviderLimits extends ExchangeLimits {
  readonly wholeMs: number;
}

/** What {@link openAiCompatibleProvider} is made with. */
export interface OpenAiProviderOptions {
  readonly clock: Clock;
  /** Base of the API, as `https://api.example/v1`; `/chat/completions` is added. */
  readonly url: string;
  /** Sent as a bearer token, over TLS or within this machine only. Absent: none is sent. */
  readonly key?: string | undefined;
  /** Models that may be asked for. The first is the default. */
  readonly models: readonly string[];
  readonly objectMode?: ObjectMode | undefined;
  readonly limits?: Partial<ProviderLimits>;
  /** Certificates (PEM) that count in place of the system's own. */
  readonly ca?: string;
}

export const DEFAULT_PROVIDER_LIMITS: ProviderLimits = {
  connectMs: 10_000,
  headMs: 120_000,
  wholeMs: 180_000,
  headBytes: 16_384,
  bodyBytes: 4 * 1_048_576,
};

/**
 * A provider behind the chat completions API that OpenAI began and many servers speak. One request is one POST: no
 * stream, no retry, no redirect (which would carry the key elsewhere).
 *
 * @throws ProtocolError whose `path` names the option that cannot be used.
 */
export function openAiCompatibleProvider(options: OpenAiProviderOptions): LlmProvider {
  return new OpenAiProvider(options);
}

class OpenAiProvider implements LlmProvider {
  readonly #clock: Clock;
  readonly #url: URL;
  readonly #key: string | undefined;
  readonly #models: readonly [string, ...string[]];
  readonly #mode: ObjectMode;
  readonly #limits: ProviderLimits;
  readonly #ca: string | undefined;

  constructor(options: OpenAiProviderOptions) {
    this.#clock = options.clock;
    this.#key = checkedKey(options.key);
    this.#url = checkedUrl(options.url, this.#key !== undefined);
    this.#models = checkedModels(options.models);
    this.#mode = options.objectMode ?? "json-schema";
    this.#limits = { ...DEFAULT_PROVIDER_LIMITS, ...options.limits };
    this.#ca = options.ca;
  }

  async complete(request: LlmRequest, signal: AbortSignal): Promise<string> {
    const model = request.model ?? this.#models[0];
    if (!this.#models.includes(model)) {
      throw failure("refused", "model", "the model is not among those that are offered here");
    }
    const body = completionBody(request, model, this.#mode);
    const { clock, ms, what } = {
      clock: this.#clock,
      ms: this.#limits.wholeMs,
      what: "the answer",
    };
    const answer = await withDeadline({ clock, ms, signal, what }, (ending) =>
      this.#post(Buffer.from(JSON.stringify(body)), ending),
    );
    if (answer.status !== 200) throw statusFailure(answer.status);
    const text = settledText(answer.body, answer.headers["content-type"]);
    if (this.#key === undefined || !text.includes(this.#key)) return text;
    throw failure("invalid", "answer", "the model's provider misbehaves: its answer holds the key");
  }

  #post(body: Uint8Array, signal: AbortSignal) {
    return exchange(
      {
        url: this.#url,
        method: "POST",
        headers: {
          accept: "application/json",
          "content-type": "application/json",
          ...(this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` }),
        },
        body,
        ca: this.#ca,
      },
      {
        limits: this.#limits,
        clock: this.#clock,
        signal,
        wantsBody: (status) => status === 200,
      },
    );
  }
}

function checkedKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{8,}$/u.test(key)) return key;
  // Says nothing of the key, not even its length.
  throw badOption("key", "the key is no printable text of at least eight characters");
}

function checkedUrl(text: string, withKey: boolean): URL {
  if (!URL.canParse(text)) throw badOption("url", "the provider's URL is none");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw badOption("url", "the provider's URL begins with https: or http:");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw badOption(
      "url",
      "the provider's URL holds nothing but host, port and path: a key has its own option",
    );
  }
  if (withKey && url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw badOption("url", "a key is sent over https only, unless the provider is on this machine");
  }
  url.pathname = `${url.pathname.replace(/\/+$/u, "")}/chat/completions`;
  return url;
}

function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}

function checkedModels(models: readonly string[]): readonly [string, ...string[]] {
  const [first, ...others] = models;
  if (first !== undefined && models.every((model) => model.trim() === model && model !== "")) {
    return [first, ...others];
  }
  throw badOption("models", "at least one model is named, and none by nothing");
}

function badOption(option: keyof OpenAiProviderOptions, words: string): ProtocolError {
  return new ProtocolError(words, { path: [option] });
}
