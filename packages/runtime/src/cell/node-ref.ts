import {
  getAt,
  type DocId,
  type JsonValue,
  type Link,
  type Path,
  type ScopeKind,
  type SpaceId,
} from "@tidemark/protocol";
import type { CellAccess } from "./access.js";

/** The address behind a handle: a path of a document, and what is there as long as nothing is. */
export interface NodeRef {
  readonly id: DocId;
  /** Present for a document of another space than the runtime's. */
  readonly space?: SpaceId;
  readonly scope: ScopeKind;
  readonly path: Path;
  /** The whole document's declared default. */
  readonly initial?: JsonValue | undefined;
  /** What is read at this very path where the document has nothing there. */
  readonly fallback?: JsonValue | undefined;
  /** Name of the node, for messages. */
  readonly label: string;
  readonly writable: boolean;
  /** Access for code outside every frame. */
  readonly owner?: PlainOwner | undefined;
}

/** Who answers plain reads of a handle. */
export interface PlainOwner {
  /** @throws FrameError while a handler of this runtime awaits: the read would not be its own. */
  plain(label: string): CellAccess;
}

/** The address of a child: one key or index further down. */
export function childRef(ref: NodeRef, key: string | number): NodeRef {
  return {
    ...ref,
    path: [...ref.path, key],
    fallback: ref.fallback === undefined ? undefined : getAt(ref.fallback, [key]),
    label: `${ref.label}.${key}`,
  };
}

/** The stored form's link to an address. */
export function linkOfRef(ref: NodeRef): Link {
  return {
    id: ref.id,
    ...(ref.path.length === 0 ? {} : { path: ref.path }),
    ...(ref.scope === "space" ? {} : { scope: ref.scope }),
    ...(ref.space === undefined ? {} : { space: ref.space }),
  };
}
