import type { Space } from "@tidemark/client";
import { mayWrite } from "@tidemark/protocol";
import { useTab } from "../app/tab.js";
import { useLive } from "../live/use-live.js";

/** Says so where somebody may look at a space and not change it. Follows the access list, live. */
export function AccessHint({ space }: { readonly space: Space }) {
  const { principal } = useTab();
  const { value: acl } = useLive(space.acl);
  const mayOnlyLook = acl !== undefined && !mayWrite(acl, principal);
  return (
    <p class={mayOnlyLook ? "hint" : "hidden"} role="status">
      {mayOnlyLook && "You may look at this space. Changing it is for those it was shared with."}
    </p>
  );
}
