/** The wire format that this code speaks, said by both sides in the hello. */
export const WIRE_VERSION = 2;

/** One version of the wire format. */
export interface WireVersionNote {
  readonly version: number;
  /** Hash of the schemas of every message (`wireSchemaHash`). A test compares it. */
  readonly schemaHash: string;
  /** What changed, for people. */
  readonly change: string;
}

/** Every version there was, newest last. A schema that changes needs a new line here. */
export const WIRE_HISTORY: readonly WireVersionNote[] = [
  {
    version: 1,
    schemaHash: "PYUg_o08z1SsJL-OZfxlEMoKjg0o4Jf8aMv9je94gwU",
    change: "first format",
  },
  {
    version: 2,
    schemaHash: "dwWFtqjvP9nGThiUcmC21HKv9zin2yZVAmAEh7YdxcU",
    change: "`duplicate-event` says `foreign` where the entry that stands is another user's",
  },
];
