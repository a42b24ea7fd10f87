import type { Badge } from "./connection-words.js";

/** A short statement with a dot in the color of its tone. */
export function BadgeView(props: { readonly badge: Badge; readonly kind: string }) {
  return (
    <span class={`badge badge-${props.badge.tone}`} data-kind={props.kind}>
      <span class="badge-dot" aria-hidden="true" />
      {props.badge.text}
    </span>
  );
}
