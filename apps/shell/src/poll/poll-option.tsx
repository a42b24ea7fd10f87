import { PersonChip } from "../identity/person-chip.js";
import type { PollRow } from "./poll-model.js";

/** One option: a button that gives the vote, or takes it back, over a bar of how many are for it. */
export function PollOption(props: {
  readonly row: PollRow;
  readonly me: string;
  readonly onVote: () => void;
}) {
  const { option, votes, share, voters, mine, leads } = props.row;
  return (
    <li class={`option${mine ? " option-mine" : ""}${leads ? " option-leads" : ""}`}>
      <button type="button" class="option-button" aria-pressed={mine} onClick={props.onVote}>
        <span class="option-bar" style={{ "--share": String(share) }} aria-hidden="true" />
        <span class="option-name">{option}</span>
        {mine && <span class="option-yours">Your vote</span>}
        <span class="option-votes">
          {votes}
          <span class="hidden"> {votes === 1 ? "vote" : "votes"}</span>
        </span>
      </button>
      {voters.length > 0 && (
        <ul class="voters" aria-label={`For ${option}`}>
          {voters.map((voter) => (
            <li key={voter}>
              <PersonChip principal={voter} me={voter === props.me} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
