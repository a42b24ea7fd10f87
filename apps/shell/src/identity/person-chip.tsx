import { personOf } from "./person.js";

/** A person: a round sign in their color, and their name. */
export function PersonChip(props: { readonly principal: string; readonly me?: boolean }) {
  const { name, initials, hue, shortId } = personOf(props.principal);
  return (
    <span class="person" style={{ "--hue": String(hue) }} title={`${name} (${shortId})`}>
      <span class="person-sign" aria-hidden="true">
        {initials}
      </span>
      <span class="person-name">{props.me ? "You" : name}</span>
    </span>
  );
}
