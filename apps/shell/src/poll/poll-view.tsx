import type { FiredEvent, PieceHandle } from "@tidemark/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { useTab } from "../app/tab.js";
import { Waiting } from "../app/waiting.js";
import { personOf } from "../identity/person.js";
import { useLive } from "../live/use-live.js";
import { OutcomeLine } from "../outcome/outcome-line.js";
import { acted } from "../settled/use-activity.js";
import { AddOption } from "./add-option.js";
import { pollModel, pollNews, type PollState, turnout } from "./poll-model.js";
import { PollOption } from "./poll-option.js";

/** Whether a piece is one that this view knows. */
export function isPoll(document: unknown): boolean {
  const { pattern } = document as { readonly pattern?: { readonly id?: unknown } };
  return pattern?.id === "lunch-poll";
}

/** The lunch poll: one button an option, with who is for it. */
export function PollView({
  piece,
  title,
}: {
  readonly piece: PieceHandle;
  readonly title: string;
}) {
  const { principal } = useTab();
  const state = usePollState(piece);
  const news = useNews(state?.votes, principal);
  const [event, setEvent] = useState<FiredEvent>();
  const fire = (name: string, payload?: unknown): void => {
    setEvent(piece.dispatch(name, payload));
    acted();
  };
  if (state === undefined) return <Waiting words="Opening the poll…" />;
  const model = pollModel(state, principal);
  return (
    <article class="card poll">
      <h1>{title}</h1>
      <p class="quiet">{turnout(model)}</p>
      <ul class="options" aria-label="Options">
        {model.rows.map((row) => (
          <PollOption
            key={row.option}
            row={row}
            me={principal}
            onVote={() => (row.mine ? fire("retract") : fire("vote", { option: row.option }))}
          />
        ))}
      </ul>
      <OutcomeLine event={event} />
      <AddOption taken={state.options} onAdd={(option) => fire("addOption", { option })} />
      <p class="news" role="status" aria-live="polite">
        {news}
      </p>
    </article>
  );
}

function usePollState(piece: PieceHandle): PollState | undefined {
  const options = useLive(piece.get("options"));
  const votes = useLive(piece.get("votes"));
  const tally = useLive(piece.get("tally"));
  if (!Array.isArray(options.value)) return undefined;
  return {
    options: options.value as unknown as PollState["options"],
    votes: (votes.value ?? {}) as PollState["votes"],
    tally: (tally.value ?? []) as unknown as PollState["tally"],
  };
}

/** What others did since the poll was opened, the latest of it. */
function useNews(votes: PollState["votes"] | undefined, me: string): string {
  const before = useRef<PollState["votes"] | undefined>(undefined);
  const [news, setNews] = useState("");
  useEffect(() => {
    if (votes === undefined) return;
    if (before.current !== undefined) {
      const said = pollNews(before.current, votes, me, (principal) => personOf(principal).name);
      if (said !== "") setNews(said);
    }
    before.current = votes;
  }, [votes, me]);
  return news;
}
