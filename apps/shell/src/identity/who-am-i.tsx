import { useRef, useState } from "preact/hooks";
import { personOf } from "./person.js";
import { PersonChip } from "./person-chip.js";
import { useDismiss } from "./use-dismiss.js";

/** Who acts in this tab, and the ways to be somebody else. */
export function WhoAmI(props: {
  readonly principal: string;
  readonly onlyThisTab: boolean;
  /** How many changes are not sent yet: they are this person's, and would be lost. */
  readonly unsent: () => number;
  readonly onSomeoneElse: () => void;
  readonly onMyself: () => void;
}) {
  const [open, setOpen] = useState(false);
  const details = useRef<HTMLDetailsElement>(null);
  useDismiss(details, open, () => setOpen(false));
  const { name, shortId } = personOf(props.principal);
  const blocked = open && props.unsent() > 0;
  return (
    <details
      class="who"
      ref={details}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary aria-label={`You are ${name}`}>
        <PersonChip principal={props.principal} />
      </summary>
      <div class="who-card">
        <p>
          You are <strong>{name}</strong> <code>{shortId}</code>
        </p>
        <p class="quiet">
          {props.onlyThisTab
            ? "In this tab alone. Your other tabs are who they were."
            : "Your key stays in this browser. There is nothing to sign up for."}
        </p>
        {blocked && <p class="quiet">What is still waiting to be sent has to go first.</p>}
        <button type="button" class="button" disabled={blocked} onClick={props.onSomeoneElse}>
          Be someone else in this tab
        </button>
        {props.onlyThisTab && (
          <button type="button" class="button" disabled={blocked} onClick={props.onMyself}>
            Be myself again
          </button>
        )}
      </div>
    </details>
  );
}
