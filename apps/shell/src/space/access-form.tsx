import type { Space } from "@tidemark/client";
import { isOwner } from "@tidemark/protocol";
import { useId, useState } from "preact/hooks";
import { useTab } from "../app/tab.js";
import { useLive } from "../live/use-live.js";
import { everybodyMay, type EverybodyMay, withEverybody } from "./everybody.js";

const CHOICES: Readonly<Record<EverybodyMay, string>> = {
  change: "may look and change things",
  look: "may only look",
  nothing: "may not see it",
};

/** For those who own a space: what everybody else may do in it. */
export function AccessForm({ space }: { readonly space: Space }) {
  const { principal } = useTab();
  const { value: acl } = useLive(space.acl);
  const [said, setSaid] = useState("");
  const id = useId();
  if (acl === undefined || !isOwner(acl, principal)) return null;
  const change = async (may: EverybodyMay): Promise<void> => {
    setSaid("Changing…");
    try {
      await space.setAcl(withEverybody(acl, may));
      setSaid("Changed.");
    } catch {
      setSaid("That was not changed: somebody else may have changed it first.");
    }
  };
  return (
    <section class="card" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>This space is yours</h2>
      <div class="field">
        <label for={id}>Everybody with the link</label>
        <select
          id={id}
          value={everybodyMay(acl)}
          onChange={(event) => void change(event.currentTarget.value as EverybodyMay)}
        >
          {Object.entries(CHOICES).map(([may, words]) => (
            <option key={may} value={may}>
              {words}
            </option>
          ))}
        </select>
      </div>
      <p class="outcome" role="status" aria-live="polite">
        {said}
      </p>
    </section>
  );
}
