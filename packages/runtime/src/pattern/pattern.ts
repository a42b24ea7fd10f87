import { z, type ZodType } from "zod";
import { isHandle } from "../cell/handle.js";
import type { Readable, Value } from "../cell/types.js";
import { PatternError } from "../errors.js";
import { runInFrame } from "../frame/frame.js";
import { argumentHandle } from "./argument.js";
import { BuildScope, type BuildTarget, type PieceNode } from "./build-scope.js";

/** What `build` is given. */
export interface BuildInput<A> {
  /** The piece's argument; links in it are followed. */
  readonly argument: Readable<A>;
}

/** What a pattern shows of itself: names and handles. */
export type PatternResult = Readonly<Record<string, unknown>>;

/** What {@link pattern} takes. */
export interface PatternSpec<S extends ZodType, R extends PatternResult> {
  /** Stable name; with `version` it is what pieces point at. */
  readonly id: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  /** Schema of the argument; its defaults are filled in when a piece is created. */
  readonly argument?: S;
  /**
   * Tells two generated patterns apart whose code reads the same. Patterns written by hand need none.
   */
  readonly fingerprint?: string;
  readonly build: (input: BuildInput<z.output<S>>) => R;
}

/** One built instance of a pattern: its nodes and its result, bound to a piece. */
export interface BuiltPattern {
  readonly nodes: ReadonlyMap<string, PieceNode>;
  readonly result: ReadonlyMap<string, Value<unknown>>;
}

/** A named, versioned definition of cells, computeds, streams and handlers (builtins.md). */
export interface Pattern<A = unknown, R extends PatternResult = PatternResult> {
  readonly id: string;
  readonly version: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly argument: ZodType | undefined;
  /** What registration compares to tell the same pattern from another one (RS-04). */
  readonly fingerprint: string;
  /** @internal Builds the nodes for one piece. */
  instantiate(target: BuildTarget): BuiltPattern;
  /** @internal Types alone. */
  readonly types?: { readonly argument: A; readonly result: R };
}

const NAME = /^[A-Za-z0-9][\w.\-:]{0,127}$/;

/**
 * Defines a pattern. `build` runs once for every piece, on the server and on clients, so it declares
 * nodes and does nothing else.
 *
 * @throws PatternError for an id or version that is no name.
 */
export function pattern<S extends ZodType, R extends PatternResult>(
  spec: PatternSpec<S, R>,
): Pattern<z.output<S>, R> {
  const { id, version } = spec;
  if (!NAME.test(id) || !NAME.test(version)) {
    const message = `pattern ${JSON.stringify(id)} version ${JSON.stringify(version)}: both are 1 to 128 characters of A-Z a-z 0-9 _ . - : and begin with a letter or digit`;
    throw new PatternError(message, { patternId: String(id), version: String(version) });
  }
  return {
    id,
    version,
    title: spec.title,
    description: spec.description,
    argument: spec.argument,
    fingerprint: spec.fingerprint ?? `${String(spec.build)}\n${schemaText(spec.argument)}`,
    instantiate: (target) => instantiate(spec, target),
  };
}

function schemaText(schema: ZodType | undefined): string {
  if (schema === undefined) return "";
  return JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
}

function instantiate<S extends ZodType, R extends PatternResult>(
  spec: PatternSpec<S, R>,
  target: BuildTarget,
): BuiltPattern {
  const build = new BuildScope(spec.id, target);
  const argument = argumentHandle<z.output<S>>(build, spec.argument);
  const frame = { kind: "body", label: `pattern ${spec.id}`, build } as const;
  const result = runInFrame(frame, () => spec.build({ argument }));
  if (typeof result !== "object" || result === null || typeof result["then"] === "function") {
    throw new PatternError(`build of pattern ${spec.id} returns an object of handles, at once`, {
      patternId: spec.id,
    });
  }
  return { nodes: build.nodes, result: checkedResult(spec.id, result) };
}

function checkedResult(
  patternId: string,
  result: PatternResult,
): ReadonlyMap<string, Value<unknown>> {
  const checked = new Map<string, Value<unknown>>();
  for (const [name, value] of Object.entries(result)) {
    if (!isHandle(value)) {
      const message = `pattern ${patternId} returns ${JSON.stringify(name)} that is no cell, computed, list, stream or part of the argument`;
      throw new PatternError(message, { patternId, node: name });
    }
    checked.set(name, value);
  }
  return checked;
}
