/** What a poll says, as its piece shows it. */
export interface PollState {
  readonly options: readonly string[];
  /** Principal to option. */
  readonly votes: Readonly<Record<string, string>>;
  readonly tally: readonly { readonly option: string; readonly votes: number }[];
}

/** One option as it is shown. */
export interface PollRow {
  readonly option: string;
  readonly votes: number;
  /** Part of all votes, 0 to 1. */
  readonly share: number;
  readonly voters: readonly string[];
  readonly mine: boolean;
  readonly leads: boolean;
}

/** A poll as it is shown. */
export interface PollModel {
  readonly rows: readonly PollRow[];
  readonly total: number;
  readonly mine: string | undefined;
}

/** Options in the poll's order, with who is for each. */
export function pollModel({ options, votes, tally }: PollState, me: string): PollModel {
  const counts = new Map(tally.map((row) => [row.option, row.votes]));
  const total = tally.reduce((sum, row) => sum + row.votes, 0);
  const most = Math.max(0, ...counts.values());
  const mine = Object.hasOwn(votes, me) ? votes[me] : undefined;
  const rows = options.map((option) => {
    const count = counts.get(option) ?? 0;
    return {
      option,
      votes: count,
      share: total === 0 ? 0 : count / total,
      voters: votersOf(votes, option, me),
      mine: mine === option,
      leads: count > 0 && count === most,
    };
  });
  return { rows, total, mine };
}

/** Oneself first, the others in a fixed order. */
function votersOf(votes: PollState["votes"], option: string, me: string): readonly string[] {
  const voters = Object.keys(votes).filter((principal) => votes[principal] === option);
  return voters.sort((a, b) => Number(b === me) - Number(a === me) || (a < b ? -1 : 1));
}

/** What changed between two states, as one sentence each; what one did oneself one knows. */
export function pollNews(
  before: PollState["votes"],
  after: PollState["votes"],
  me: string,
  nameOf: (principal: string) => string,
): string {
  const news: string[] = [];
  for (const principal of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (principal === me || before[principal] === after[principal]) continue;
    const option = after[principal];
    const name = nameOf(principal);
    news.push(
      option === undefined ? `${name} took their vote back.` : `${name} votes for ${option}.`,
    );
  }
  return news.join(" ");
}

/** How many have voted, in words. */
export function turnout({ total, mine }: PollModel): string {
  if (total === 0) return "Nobody has voted yet. Be the first.";
  const votes = total === 1 ? "1 vote" : `${total} votes`;
  return mine === undefined ? `${votes} so far, yours is missing.` : `${votes} so far.`;
}
