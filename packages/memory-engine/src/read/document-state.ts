import type { CommitClass, JsonValue } from "@tidemark/protocol";

/** What is known of one document instance's newest revision on one branch. Mutable; never shared. */
export interface DocumentState {
  /** Number of the interned instance; 0: not interned yet. */
  no: number;
  /** Position of the newest revision; 0: never written. */
  pos: number;
  kind: number;
  class: number;
  /** Text of the newest revision, until its value is first asked for. */
  raw: string | undefined;
  loaded: boolean;
  value: JsonValue | undefined;
  /** Patches since the last full value, and their size. */
  ops: number;
  patchBytes: number;
  /** Size of the value as JSON text, roughly. */
  valueBytes: number;
}

export function neverWritten(no: number): DocumentState {
  return {
    no,
    pos: 0,
    kind: 0,
    class: 0,
    raw: undefined,
    loaded: true,
    value: undefined,
    ops: 0,
    patchBytes: 0,
    valueBytes: 0,
  };
}

const CLASSES: readonly CommitClass[] = ["authored", "derived", "system"];

export function classNumber(name: CommitClass): number {
  return CLASSES.indexOf(name);
}

export function className(number: number): CommitClass {
  const name = CLASSES[number];
  if (name === undefined) throw new RangeError(`no commit class has number ${number}`);
  return name;
}
