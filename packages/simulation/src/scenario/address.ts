/** Where a value of a scenario stands: `SPACE/PIECE/NODE`, `@user` or `@user/session` for a scoped instance. */
export interface Address {
  readonly space: string;
  readonly piece: string;
  readonly node: string;
  readonly user?: string;
  readonly session?: string;
}

const ADDRESS = /^([^/@]+)\/([^/@]+)\/([^/@]+)(?:@([^/@]+)(?:\/([^/@]+))?)?$/u;

/** Reads an address; `undefined` where the text is none. */
export function parseAddress(text: string): Address | undefined {
  const match = ADDRESS.exec(text);
  if (!match) return undefined;
  const [, space = "", piece = "", node = "", user, session] = match;
  return {
    space,
    piece,
    node,
    ...(user === undefined ? {} : { user }),
    ...(session === undefined ? {} : { session }),
  };
}

/** Reads `SPACE/PIECE`; `undefined` where the text is none. */
export function parsePieceAddress(text: string): { space: string; piece: string } | undefined {
  const [space, piece, ...rest] = text.split("/");
  return space && piece && rest.length === 0 ? { space, piece } : undefined;
}
