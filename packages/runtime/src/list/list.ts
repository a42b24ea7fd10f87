import { cellHandle } from "../cell/handle.js";
import type { Computed, Readable } from "../cell/types.js";
import { requireBuild } from "../frame/frame.js";
import { type Source, valueOf } from "../logic/logic.js";
import type { ListForm } from "../pattern/build-scope.js";

/** What tells a list's elements apart. */
export interface ListOptions<E> {
  /**
   * The identity of an element: its child and the child's document move with it. Without one an
   * element is its index. An identity that occurs again gets its count, `b~1`.
   */
  readonly key?: (item: E, index: number) => string | number;
  readonly title?: string;
  readonly description?: string;
}

/** What a child is told of its place. The index is left out: it would change under a reorder. */
export interface ListItemPlace {
  readonly key: string;
}

/** A child computation: it reads of its element what it needs. */
export type ListItem<E, R> = (item: Readable<E>, at: ListItemPlace) => R;

/**
 * A child per element; the value is the list of what the children return, in the list's order. A
 * child runs again when what it read has changed, and never because a neighbour did (builtins.md).
 */
export function map<E, R>(
  name: string,
  over: Source<readonly E[] | undefined>,
  item: ListItem<E, R>,
  options: ListOptions<E> = {},
): Computed<R[]> {
  return list<R[]>("map", name, over, item, options);
}

/** The elements whose child returns something true, in order. */
export function filter<E>(
  name: string,
  over: Source<readonly E[] | undefined>,
  item: ListItem<E, unknown>,
  options: ListOptions<E> = {},
): Computed<E[]> {
  return list<E[]>("filter", name, over, item, options);
}

/** What the children's lists hold, one after the other. */
export function flatMap<E, R>(
  name: string,
  over: Source<readonly E[] | undefined>,
  item: ListItem<E, readonly R[]>,
  options: ListOptions<E> = {},
): Computed<R[]> {
  return list<R[]>("flatMap", name, over, item, options);
}

function list<T>(
  form: ListForm,
  name: string,
  over: Source<unknown>,
  item: ListItem<never, unknown>,
  options: ListOptions<never>,
): Computed<T> {
  const build = requireBuild(form);
  const node = build.add({
    kind: "list",
    form,
    name,
    id: build.nodeId(name),
    over: () => valueOf(over),
    keyOf: options.key,
    item,
    title: options.title,
    description: options.description,
  });
  return cellHandle<T>(build.ref(node));
}
