import { useEffect } from "preact/hooks";

/** Closes something that is open over the page: by Escape, by going elsewhere, by following a link. */
export function useDismiss(
  part: { readonly current: HTMLElement | null },
  open: boolean,
  close: () => void,
): void {
  useEffect(() => {
    if (!open) return undefined;
    const key = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      close();
      part.current?.querySelector("summary")?.focus();
    };
    const elsewhere = (event: Event): void => {
      if (event.target instanceof Node && !part.current?.contains(event.target)) close();
    };
    addEventListener("keydown", key);
    addEventListener("pointerdown", elsewhere);
    addEventListener("focusin", elsewhere);
    addEventListener("hashchange", close);
    return () => {
      removeEventListener("keydown", key);
      removeEventListener("pointerdown", elsewhere);
      removeEventListener("focusin", elsewhere);
      removeEventListener("hashchange", close);
    };
  }, [part, open, close]);
}
