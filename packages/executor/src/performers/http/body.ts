import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { failure } from "../failure.js";

type Chunks = AsyncIterable<Uint8Array>;

/**
 * Reads and decodes a body within a bound, which holds for the bytes that come and for the bytes they unpack to: a
 * small body that unpacks to gigabytes is cut off as soon as it has passed the bound.
 *
 * @throws EffectError "too-large", or "invalid" (reason `encoding`); what the connection throws passes through.
 */
export async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const announced = Number(response.headers["content-length"] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const decoder = decoderOf(response.headers["content-encoding"]);
  const chunks: Uint8Array[] = [];
  const collect = async (source: Chunks): Promise<void> => {
    for await (const chunk of bounded(source, maxBytes)) chunks.push(chunk);
  };
  if (decoder === undefined) await pipeline(response, collect, { signal });
  else {
    const arriving = (source: Chunks) => bounded(source, maxBytes);
    await pipeline(response, arriving, decoder, collect, { signal });
  }
  return Buffer.concat(chunks);
}

async function* bounded(source: Chunks, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

/** One coding at most, and of those that were offered. */
function decoderOf(coding: string | undefined): Duplex | undefined {
  switch (coding?.trim().toLowerCase() ?? "identity") {
    case "identity":
    case "":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    default:
      throw failure("invalid", "encoding", "the answer comes in an encoding that was not offered");
  }
}

function tooLarge(maxBytes: number) {
  return failure("too-large", "body", `the answer is larger than ${maxBytes} bytes`);
}
