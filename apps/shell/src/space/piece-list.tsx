import type { PieceSummary, Space } from "@tidemark/client";
import { pieceHref } from "../app/route.js";
import { useTab } from "../app/tab.js";
import { Waiting } from "../app/waiting.js";
import { personOf } from "../identity/person.js";
import { useLive } from "../live/use-live.js";
import { patternTitle, pieceTitle } from "../piece/piece-title.js";
import { usePiece } from "../piece/use-piece.js";

/** Every piece of a space, live. */
export function PieceList({ space }: { readonly space: Space }) {
  const { value: pieces, pending } = useLive(space.pieces);
  if (pending || pieces === undefined) return <Waiting words="Looking what is here…" />;
  return (
    <section class="card">
      <h1>What is in this space</h1>
      <p class="quiet">
        Space <code>{personOf(space.id).shortId}</code>
      </p>
      {pieces.length === 0 ? (
        <p class="empty">Nothing yet. Whatever is made in this space shows up here by itself.</p>
      ) : (
        <ul class="pieces">
          {pieces.map((piece) => (
            <li key={piece.id}>
              <PieceCard space={space} piece={piece} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function PieceCard({ space, piece }: { readonly space: Space; readonly piece: PieceSummary }) {
  const { meta } = useTab();
  const handle = usePiece(space, piece.id, LIST_ONLY);
  return (
    <a class="piece-card" href={pieceHref(space.id, piece.id)}>
      <strong>{handle ? <Title space={handle} meta={meta} /> : "…"}</strong>
      <span class="quiet">{patternTitle(piece.pattern, meta)}</span>
    </a>
  );
}

/** The list shows no more of a piece than its document. */
const LIST_ONLY = { watch: [] } as const;

function Title(props: {
  readonly space: NonNullable<ReturnType<typeof usePiece>>;
  readonly meta: ReturnType<typeof useTab>["meta"];
}) {
  const { value } = useLive(props.space.document);
  return <>{pieceTitle(value, props.meta)}</>;
}
