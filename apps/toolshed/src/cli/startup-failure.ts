import { isTidemarkError } from "@tidemark/protocol";

/** How a toolshed process ends. */
export const EXIT = {
  ok: 0,
  /** A fault of the program's own. */
  internal: 1,
  /** An option or a pattern module that cannot be used. */
  usage: 2,
  /** The data folder, a kept key or the demo's store. */
  storage: 3,
  /** The address cannot be listened on. */
  address: 4,
} as const;

/** Why a toolshed did not start. */
export interface StartupFailure {
  readonly exitCode: number;
  readonly code: string;
  readonly words: string;
}

/** What {@link explainStartupFailure} says where. */
export interface StartupPlace {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
}

const ADDRESS: Readonly<Record<string, (place: StartupPlace) => string>> = {
  EADDRINUSE: ({ host, port }) =>
    `port ${port} of ${host} is taken by another program: choose another with --port, or 0 for any free one`,
  EACCES: ({ host, port }) =>
    `port ${port} of ${host} may not be used by this user: choose another with --port`,
  EADDRNOTAVAIL: ({ host }) => `${host} is no address of this machine: choose another with --host`,
  ENOTFOUND: ({ host }) => `${host} is no address: choose another with --host`,
};

const FOLDER: Readonly<Record<string, string>> = {
  EACCES: "may not be written by this user",
  EPERM: "may not be written by this user",
  EROFS: "is on a file system that is read-only",
  ENOSPC: "is on a disk that is full",
  ENOTDIR: "is no folder",
  EEXIST: "is no folder",
};

/** Turns what stopped a start into an exit code and words that say what to do. */
export function explainStartupFailure(error: unknown, place: StartupPlace): StartupFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (isTidemarkError(error, "storage")) {
    const words = `${message}. The other spaces can be served with --no-demo`;
    return { exitCode: EXIT.storage, code: error.code, words };
  }
  if (isTidemarkError(error)) return { exitCode: EXIT.usage, code: error.code, words: message };
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code !== undefined && (syscall === "listen" || syscall === "getaddrinfo")) {
    const words = ADDRESS[code]?.(place) ?? message;
    return { exitCode: EXIT.address, code, words };
  }
  const fault = FOLDER[code ?? ""] ?? (syscall === "mkdir" ? "cannot be made" : undefined);
  if (code !== undefined && fault !== undefined) {
    const words = `the data folder ${place.dataDir} ${fault}: choose another with --data-dir (${message})`;
    return { exitCode: EXIT.storage, code, words };
  }
  return { exitCode: EXIT.internal, code: code ?? "internal", words: message };
}
