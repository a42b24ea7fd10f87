import type { Observable, ValueHandle } from "@tidemark/client";
import { useEffect, useState } from "preact/hooks";

/** A live value as it is shown now. */
export interface Live<T> {
  readonly value: T | undefined;
  readonly pending: boolean;
}

/** Follows a live value. */
export function useLive<T>(handle: ValueHandle<T>): Live<T> {
  const [live, setLive] = useState<Live<T>>(() => ({
    value: handle.value,
    pending: handle.pending,
  }));
  useEffect(() => handle.subscribe((value, { pending }) => setLive({ value, pending })), [handle]);
  return live;
}

/** Follows an observable. */
export function useObservable<T>(observable: Observable<T>): T {
  const [value, setValue] = useState(() => observable.value);
  // A function would be taken for an updater.
  useEffect(() => observable.subscribe((next) => setValue(() => next)), [observable]);
  return value;
}
