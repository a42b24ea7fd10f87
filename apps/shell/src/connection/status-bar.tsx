import type { Space } from "@tidemark/client";
import { useTab } from "../app/tab.js";
import { useObservable } from "../live/use-live.js";
import { settledBadge } from "../settled/settled-words.js";
import { useActivity } from "../settled/use-activity.js";
import { BadgeView } from "./badge-view.js";
import { connectionBadge } from "./connection-words.js";
import { useCountdown } from "./use-countdown.js";

/** Whether this tab is connected, and whether everything done in it has been worked in. */
export function StatusBar(props: { readonly space: Space }) {
  const { client } = useTab();
  const status = useObservable(client.status);
  const left = useCountdown(status);
  const activity = useActivity(client, props.space);
  return (
    <div class="status">
      <BadgeView kind="connection" badge={connectionBadge(status, left, activity.queued)} />
      <span role="status" aria-live="polite">
        <BadgeView kind="settled" badge={settledBadge(activity)} />
      </span>
    </div>
  );
}
