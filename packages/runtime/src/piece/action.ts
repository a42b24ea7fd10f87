import type { ActionId, DocId } from "@tidemark/protocol";

/** The durable identity of a computation: the same after every restart (design of basis rows). */
export function actionOf(patternId: string, nodeName: string, pieceId: DocId): ActionId {
  return `${patternId}/${nodeName}@${pieceId}` as ActionId;
}
