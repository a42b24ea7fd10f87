import {
  parseInstanceKey,
  type EntryState,
  type Frontier,
  type InstanceKey,
  type Seq,
  type SpaceId,
} from "@tidemark/protocol";
import type { RowText } from "./rows.js";

/** One frame before it is text. */
export interface FrameParts {
  readonly space: SpaceId;
  readonly seq: Seq;
  readonly watermark: Seq;
  readonly reset: boolean;
  readonly rows: readonly RowText[];
  readonly gone: readonly InstanceKey[];
  readonly entries: readonly EntryState[];
  readonly frontiers: readonly Frontier[];
}

/** The frame as the wire has it. Rows come as text, so that nothing is serialised twice. */
export function frameText(parts: FrameParts): string {
  const head =
    `{"type":"frame","space":${JSON.stringify(parts.space)},"seq":${parts.seq}` +
    `,"watermark":${parts.watermark}${parts.reset ? `,"reset":true` : ""}`;
  const rows = parts.rows.map((row) => row.text).join(",");
  const gone = JSON.stringify(parts.gone.map((key) => parseInstanceKey(key)));
  const entries = JSON.stringify(parts.entries);
  const frontiers = JSON.stringify(parts.frontiers);
  return `${head},"rows":[${rows}],"gone":${gone},"entries":${entries},"frontiers":${frontiers}}`;
}
