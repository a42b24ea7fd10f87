import type { PieceHandle, Space } from "@tidemark/client";
import type { DocId } from "@tidemark/protocol";
import { useEffect, useMemo } from "preact/hooks";
import { spaceHref } from "../app/route.js";
import { useTab } from "../app/tab.js";
import { Waiting } from "../app/waiting.js";
import { useLive } from "../live/use-live.js";
import { isPoll, PollView } from "../poll/poll-view.js";
import { nodesOf } from "./nodes.js";
import { PieceParts } from "./piece-parts.js";
import { pieceTitle } from "./piece-title.js";
import { usePiece } from "./use-piece.js";

/** One piece: with a view of its own where there is one, and everything that is in it. */
export function PiecePage({ space, id }: { readonly space: Space; readonly id: DocId }) {
  const piece = usePiece(space, id);
  return (
    <>
      <nav aria-label="Where this is">
        <a class="back" href={spaceHref(space.id)}>
          <span aria-hidden="true">←</span> All of this space
        </a>
      </nav>
      {piece === undefined ? <Waiting words="Opening…" /> : <OpenPiece piece={piece} />}
    </>
  );
}

function OpenPiece({ piece }: { readonly piece: PieceHandle }) {
  const { meta } = useTab();
  const { value: document, pending } = useLive(piece.document);
  const pattern = piece.model?.pattern;
  const nodes = useMemo(() => nodesOf(document, pattern, meta), [document, pattern, meta]);
  const title = pieceTitle(document, meta);
  useEffect(() => {
    if (document !== undefined) window.document.title = `${title} · Tidemark`;
  }, [document, title]);
  if (pending) return <Waiting words="Opening…" />;
  if (document === undefined) {
    return <p class="card empty">This piece is not in the space any more, or never was.</p>;
  }
  if (isPoll(document)) {
    return (
      <>
        <PollView piece={piece} title={title} />
        <details class="card parts-fold">
          <summary>Everything in this piece</summary>
          <PieceParts piece={piece} nodes={nodes} />
        </details>
      </>
    );
  }
  return (
    <article class="card">
      <h1>{title}</h1>
      <PieceParts piece={piece} nodes={nodes} />
    </article>
  );
}
