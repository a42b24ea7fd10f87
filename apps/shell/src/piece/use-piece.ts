import type { PieceHandle, PieceOptions, Space } from "@tidemark/client";
import type { DocId } from "@tidemark/protocol";
import { useEffect, useState } from "preact/hooks";

/** Looks at a piece for as long as the part of the page stands. `options` has to be a constant. */
export function usePiece(space: Space, id: DocId, options?: PieceOptions): PieceHandle | undefined {
  const [piece, setPiece] = useState<PieceHandle>();
  useEffect(() => {
    const opened = space.piece(id, options);
    setPiece(opened);
    return () => opened.close();
  }, [space, id, options]);
  return piece;
}
