import {
  applyOperation,
  isPathPrefix,
  overwrittenPaths,
  type JsonValue,
  type PatchOp,
  type Path,
  type ValueOperation,
} from "@tidemark/protocol";

/** What one run has done to one document instance. */
export class DocumentWrites {
  /** The run's own view of the document. */
  value: JsonValue | undefined;
  /** The document was overwritten whole: nothing in it rests on what the view holds. */
  #whole = false;
  readonly #ops: PatchOp[] = [];
  readonly #overwritten: Path[] = [];

  constructor(base: JsonValue | undefined) {
    this.value = base;
  }

  /** @throws PatchError where the operation does not apply; nothing is then kept of it. */
  apply(op: ValueOperation): void {
    this.value = applyOperation(this.value, op);
    if (op.op !== "patch") {
      this.#whole = true;
      this.#ops.length = 0;
      return;
    }
    if (this.#whole) return;
    this.#ops.push(...op.value);
    this.#overwritten.push(...overwrittenPaths(op));
  }

  /** Whether what is read at the path comes from this run alone. */
  covers(path: Path): boolean {
    return this.#whole || this.#overwritten.some((written) => isPathPrefix(written, path));
  }

  /** The one operation that the run comes to. */
  operation(): ValueOperation {
    if (!this.#whole) return { op: "patch", value: this.#ops };
    return this.value === undefined ? { op: "delete" } : { op: "set", value: this.value };
  }
}
